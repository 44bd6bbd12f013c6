"""A second corpus, written after tuning on the first; docs/redaction.md has its first score."""

from __future__ import annotations

from .recipes import make

TRUE = r"""
SLACK_BOT_TOKEN: xoxb-⟦<d11>-<d12>-<a24>⟧
const stripe = new Stripe("sk_live_⟦<a40>⟧", {apiVersion: "2024-06-20"});
remote: https://ci:⟦ghp_<a36>⟧@github.com/acme/app
RUN pip install --index-url https://build:⟦<a22>⟧@pypi.corp.dev/simple tether
    api_key: ⟦AIza<b35>⟧
spring.mail.password=⟦<k16>⟧
"connectionString": "Server=tcp:x.database.windows.net;User ID=sa;Password=⟦<p14>⟧;Encrypt=True"
{"level":"error","msg":"auth failed","token":"⟦<j0>⟧"}
[default]\naws_access_key_id = ⟦AKIA<u16>⟧
TF_VAR_db_password=⟦<p18>⟧ terraform apply
- name: DB_PASS\n  value: "⟦<p12>⟧"
conn = psycopg2.connect(host="db", password="⟦<p12>⟧")
mongoose.connect('mongodb://root:⟦<a18>⟧@mongo:27017/app')
http.request.headers['x-api-key'] = '⟦<a32>⟧'
github.token=⟦github_pat_11<u20>_<a59>⟧
auth:\n  secret: ⟦<h48>⟧
private static final String SECRET = "⟦<w32>⟧";
pub const API_SECRET: &str = "⟦<a44>⟧";
$env:API_KEY = "⟦<a32>⟧"
setx OPENAI_API_KEY "⟦sk-proj-<b74>⟧"
let apiSecret = "⟦<a32>⟧"
echo ⟦<a20>⟧ | wc # ok
SMTP_PASSWORD="⟦<p16>⟧"
hikari.password = ⟦<p12>⟧
bitbucket: { user: ci, app_password: ⟦ATBB<a32>⟧ }
npm config set //npm.example.com/:_authToken ⟦npm_<a36>⟧
SNOWFLAKE_PASSWORD=⟦<p12>⟧
"secretKey" : "⟦<a40>⟧"
'token'=>'⟦<h32>⟧'
encryptionKey=⟦<h64>⟧
security.jwt.secret-key: ⟦<w48>⟧
curl https://api.openai.com/v1/models -H "Authorization: Bearer ⟦sk-<a20>T3BlbkFJ<a20>⟧"
wget --header="Authorization: Bearer ⟦<a48>⟧" https://h.dev/f
client = boto3.client("s3", aws_secret_access_key="⟦<B40>⟧")
mysql -h127.0.0.1 -uapp -p⟦<a14>⟧ -e 'select 1'
REDIS_URL=redis://:⟦<h64>⟧@10.0.0.4:6379
ldap.bind_password: "⟦<p14>⟧"
user = "deploy"; pass = "⟦<p12>⟧"
<connection password="⟦<p12>⟧" user="sa"/>
HOOK=https://hooks.slack.com/services/⟦T<u8>/B<u8>/<a24>⟧
grafana_api_token = "⟦glsa_<a32>_<h8>⟧"
VAULT_SECRET_ID=⟦<g0>⟧
twilio.auth_token: '⟦<h32>⟧'
BROKER = "amqp://celery:⟦<a20>⟧@rabbit:5672/vhost"
ssh_pass: ⟦<p12>⟧
sudo -S <<< "⟦<p14>⟧"
ACCESS_TOKEN_SECRET=⟦<a45>⟧
export HF_TOKEN=⟦hf_<A34>⟧
Cookie: _app_session=⟦<b120>⟧; path=/
X-Vault-Token: ⟦hvs.<b95>⟧
""".strip().splitlines()

LOOKALIKES = r"""
"_resolved": "https://npm.example.com/ms/-/ms-2.1.3.tgz",
yarn_integrity "sha1-<w20>"
"node_modules/jsonwebtoken": { "version": "9.0.2" }
password-validator==1.0
jsonwebtoken@^9.0.2:
resolved "https://codeload.github.com/o/token/tar.gz/<h40>"
Podfile checksum: <h40>
PODFILE CHECKSUM: <h40>
- name: DB_PASS\n  valueFrom: { secretKeyRef: { name: db } }
password: process.env.DB_PASS ?? undefined,
const token = headers.get("authorization")?.split(" ")[1];
const hashed = await bcrypt.hash(password, 12);
if (password.length < 8) throw new Error("Password too short");
def token_required(view): ...
self.password_entry = ttk.Entry(frame, show="*")
export type TokenPayload = { userId: string; role: Role };
private final PasswordEncoder passwordEncoder;
public string Password { get; set; }
@Column(name = "password_digest", length = 72)
password: { type: String, required: true, select: false },
token: { type: DataTypes.STRING(64), allowNull: true },
let token = lexer.peek().unwrap();
match token { Token::Ident(name) => name, _ => return None }
tok = tokenizer.encode("hello world", add_special_tokens=False)
secret_version = "projects/123/secrets/api/versions/latest"
kms_key_id = "alias/app-key"
kms_key_arn: arn:aws:kms:us-east-1:<d12>:key/<g0>
key_vault_name = "kv-prod-weu-001"
keyFile: /etc/mongodb/keyfile
ssl_key = </etc/dovecot/private.pem
IdentityFile ~/.ssh/id_ed25519_work
api_keys: []
tokens: {}
token_ids = [101, 2023, 2003, 102]
'<h24>' is not a valid ObjectId
ObjectId("<h24>")
_id: 65f1c0ffee<h14>
commit=<h40> branch=main author=bob
sha1=<h40>
"gitHead": "<h40>",
"shasum": "<h40>",
Signature-Version: 1.0
SHA-256-Digest: <w32>
Name: META-INF/services/javax.security.auth.spi.LoginModule
x-amz-id-2: <w48>
x-amz-request-id: <u16>
cf-ray: <h16>-FRA
Strict-Transport-Security: max-age=31536000; includeSubDomains
Access-Control-Allow-Headers: Authorization, X-Api-Key, X-Auth-Token
Vary: Authorization, Cookie
password1 password2
The quick token jumps over the lazy secret.
"auth.password.hint": "Mindestens 12 Zeichen, Groß- und Kleinschreibung",
"secret": "Geheimnis",
"apiKeyPlaceholder": "z. B. abcd-1234",
msgid "Enter your password"
msgstr "Introduzca su contraseña"
TOKEN_RE = re.compile(r"[A-Za-z0-9_-]{20,}")
password_regex: "^[A-Za-z0-9@#$%]{8,}$"
assert_eq!(token.kind, TokenKind::Str);
expect(screen.getByLabelText("Password")).toBeInTheDocument();
cy.get('[data-testid="password-input"]').type(Cypress.env('PASSWORD'));
await page.fill('#password', process.env.TEST_PASSWORD!);
SECRET_SCANNER_VERSION=8.18.2
token-ring-network-adapter-2000
secrets-store-csi-driver-provider-aws-0.3.9
com.example.auth.token.JwtTokenProviderTest
docker pull ghcr.io/acme/token-service:2026.03.01-<h7>
helm install secrets-operator external-secrets/external-secrets --version 0.9.13
uid=0(root) gid=0(root)
SELECT * FROM tokens WHERE expires_at < now();
""".strip().splitlines()


def true_cases() -> list[tuple[str, str]]:
    """(text, the secret in it)."""
    found = []
    for index, line in enumerate(TRUE):
        text = make(line.replace("\\n", "\n"), ("fresh", index))
        start, end = text.index("⟦"), text.index("⟧")
        found.append((text[:start] + text[start + 1 : end] + text[end + 1 :], text[start + 1 : end]))
    return found


def lookalike_cases() -> list[str]:
    """Lines without a secret."""
    return [make(line.replace("\\n", "\n"), ("fresh", index)) for index, line in enumerate(LOOKALIKES)]

"""Lines that look like secrets and are none: hashes, identifiers, placeholders, code, prose."""

from __future__ import annotations

from .recipes import make

# Each is made three times with different random parts.
RANDOM = r"""
commit <h40>
* <h7> (HEAD -> main, origin/main) Fix token refresh when the password changes
Merge: <h7> <h7>
index <h7>..<h7> 100644
From <h40> Mon Sep 17 00:00:00 2001
git checkout <h40>
  "resolved": "https://npm.example.com/left-pad/-/left-pad-1.3.0.tgz#<h40>",
  integrity sha512-<w64>
  "integrity": "sha512-<w64>",
    sha256 = "<h64>"
    --hash=sha256:<h64> \
checksum = "<h64>"
github.com/pkg/errors v0.9.1 h1:<w32>
github.com/pkg/errors v0.9.1/go.mod h1:<w32>
image: nginx@sha256:<h64>
FROM python:3.11@sha256:<h64>
SHA256 (archive.tar.gz) = <h64>
<h64>  dist/tether-1.0-py3-none-any.whl
<h32>  file.iso
md5sum: <h32>
ETag: "<h32>"
If-None-Match: W/"<h32>"
etag = "<h40>"
content_hash: sha256:<h64>
"contentHash": "<h64>",
request_id=<g0> user=42 path=/token
X-Request-Id: <g0>
trace_id: <h32>
traceparent: 00-<h32>-<h16>-01
span_id=<h16>
"id": "<g0>",
uuid = "<g0>"
session started correlation=<g0>
tenantId: <g0>
client_id = "<g0>"
AZURE_TENANT_ID=<g0>
subscriptionId: "<g0>"
"key_id": "<h40>",
"private_key_id": "<h40>",
kid: "<h32>"
public_key = "<B44>"
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ<B200> bob@host
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<B43> bob@host
fingerprint: SHA256:<B43>
host.dev ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<B43>
<img src="data:image/png;base64,iVBORw0KGgo<B120>">
background: url(data:image/svg+xml;base64,PHN2Zy<B100>);
@font-face { src: url(data:font/woff2;base64,d09GMgABAAAAA<B100>) }
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJz<B80>
<path d="M<d2>.<d2>,<d2>.<d2>c-<d1>.<d2>,0-<d1>.<d2>-<d1>.<d2>" fill="#<h6>"/>
color: #<h6>; background: #<h6>;
primary_key = "<g0>"
cache_key = "user:<d8>:profile:<h8>"
"cacheKey": "v2-<h40>"
"etag": "\"<h32>\""
hash = "<h64>"
password_hash = "$2b$12$<a53>"
"passwordHash": "$argon2id$v=19$m=65536,t=3,p=4$<B22>$<B43>"
bob:$apr1$<a8>$<a22>
root:$6$<a8>$<a86>:19000:0:99999:7:::
vendor/github.com/x/<h12>/token.go
/nix/store/<l32>-python3-3.11.7
/var/lib/docker/overlay2/<h64>/merged
https://cdn.host.dev/assets/app.<h20>.js
<script src="/static/js/main.<h8>.chunk.js" integrity="sha384-<w48>" crossorigin="anonymous"></script>
import x from './token.<h8>.css'
"revision": "<h40>",
rev = "<h40>"
uses: actions/checkout@<h40> # v4.1.1
- repo: https://github.com/psf/black
  rev: <h40>
digest: sha256:<h64>
"sha": "<h40>",
blob <h40> 2048	src/auth/token.py
100644 blob <h40>	src/password.py
W20260301 leader=<h16> term=4 votes=3
0x<h64>
tx: 0x<h64>
address: 0x<h40>
MAC <h2>:<h2>:<h2>:<h2>:<h2>:<h2>
IPv6 2001:db8:<h4>:<h4>::<h4>
arn:aws:iam::<d12>:role/deploy-<h8>
arn:aws:secretsmanager:us-east-1:<d12>:secret:prod/db-<a6>
secret_arn = "arn:aws:secretsmanager:eu-west-1:<d12>:secret:app-<a6>"
AccountId: "<d12>"
ami-<h17>
vpc-<h17> subnet-<h17> sg-<h17>
i-<h17> running t3.large
projects/p/secrets/db-password/versions/<d2>
order_id=<d12> amount=42
isbn <d13>
phone +1 <d3> <d3> <d4>
build number <d10>
snowflake <d18>
https://sentry.io/api/0/projects/o/p/keys/<h32>/
SENTRY_DSN=https://<h32>@o<d6>.ingest.sentry.io/<d7>
pk_live_<a24>
pk_test_<a24>
GTM-<u7> UA-<d8>-1 G-<u10>
AC<h32>
docker_image_id: sha256:<h64>
assert digest == "<h64>"
expected = "<h40>"
const FIXTURE_ID = "<a22>";
nonce: <w16>
"nonce": "<h24>",
key = cache.get("<h32>")
Content-MD5: <w16>
""".strip().splitlines()

# Written as they stand.
PLAIN = r"""
password = "password"
password: changeme
password = "changeme123"
PASSWORD=<your-password>
password = "${DB_PASSWORD}"
password: ${{ secrets.DB_PASSWORD }}
password: {{ .Values.db.password }}
password = os.environ["DB_PASSWORD"]
password = os.getenv("DB_PASSWORD")
password = getpass.getpass()
password = config.get("password")
password = request.form["password"]
password=$DB_PASSWORD
password=%DB_PASSWORD%
password = None
password: null
password = ""
password: str
password: string;
password?: string;
password: Optional[str] = None
def check_password(self, password: str) -> bool:
    password = models.CharField(max_length=128)
password_field = "password_input"
password_min_length = 12
password_policy: strict
<label for="password">Password</label>
<input type="password" name="password" placeholder="Enter your password">
"password": "Passwort",
"password": "Mot de passe",
"password.reset": "Reset your password",
password_confirmation: "Bestätigen Sie Ihr Passwort",
"forgot_password": "Forgot your password?",
"invalid_password": "The password you entered is not correct",
errors.password.too_short=Password must be at least 8 characters
passwords.token=This password reset token is invalid.
assert user.check_password("password")
login("admin", "admin")
USER=test PASSWORD=test
password: 'test'
password = 'secret'
password = "test1234"
password="admin123"
password: "12345678"
password: ********
password = "****************"
password: xxxxxxxx
password=[hidden]
password = "example-password"
password = "dummy"
password = "insert-password-here"
password = self.generate_password(length=16)
password = random_string(32)
password == other.password
password != confirmPassword
user.password = newPassword
this.password = password;
newPassword: this.form.value.newPassword,
const { password, token } = req.body;
return jsonify(token=token, password=password)
passwordEncoder = new BCryptPasswordEncoder()
passwordResetUrl = "https://app.host.dev/reset"
passwordInputRef = useRef<HTMLInputElement>(null)
PasswordValidator.validate(password, minLength=8)
--password-file /run/secrets/db
--password-stdin
docker login --username bob --password-stdin
mysql -u root -p app < dump.sql
mysql -h db -P 3306 -u app -p
mysqldump --defaults-extra-file=/etc/my.cnf app
psql -h db -p 5432 -U app
ssh -p 2222 bob@host
mkdir -p /var/lib/app/secrets
cp -p token.txt /tmp/backup/
docker run -p 8080:80 nginx
docker run -p 127.0.0.1:5432:5432 postgres:16
podman run -p 8443:8443 app
nmap -p 1-65535 host
curl -u "$USER:$PASS" https://host.dev
curl -u "${GH_USER}:${GH_TOKEN}" https://api.github.com
curl -H "Authorization: Bearer $TOKEN" https://host.dev
curl -H "Authorization: Bearer <token>" https://host.dev
curl -H "Authorization: Bearer ${ACCESS_TOKEN}" https://host.dev
curl -H "Authorization: Bearer YOUR_ACCESS_TOKEN" https://host.dev
curl -H "X-Api-Key: {{api_key}}" https://host.dev
Authorization: Bearer {token}
"Authorization": f"Bearer {self.token}",
headers["Authorization"] = "Bearer " + token
req.headers.authorization.split("Bearer ")[1]
if (!authorization.startsWith("Bearer ")) {
the bearer token is sent in the Authorization header
Bearer authentication requires a valid token
WWW-Authenticate: Bearer realm="example"
securitySchemes: bearerAuth
Authorization: Basic base64(username:password)
token = get_token()
token = self._token
token = request.headers.get("X-Token")
token = jwt.encode(payload, key, algorithm="HS256")
token = await auth.refreshAccessToken(user.id);
token: string
token: str = Field(..., description="API token")
token_type = "bearer"
token_url = "https://auth.host.dev/oauth/token"
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
tokens = line.split()
max_tokens = 4096
num_tokens: 128000
eos_token = "<|endoftext|>"
pad_token: "[PAD]"
bos_token_id = 50256
next_token = response["NextToken"]
next_page_token: CAUQAA
continuation_token = None
csrf_token: {{ csrf_token() }}
<meta name="csrf-token" content="{{ csrf_token }}">
Token.Keyword.Declaration: "bold #005f87"
TOKEN_EXPIRY_SECONDS = 3600
tokenEndpoint: "/oauth2/token"
const token = useContext(TokenContext);
type Token struct { Kind TokenKind; Value string }
case TokenType::Identifier => parse_identifier(token),
lexer.nextToken()
cancellationToken.ThrowIfCancellationRequested();
tokens_per_second: 42.5
access_token_lifetime: 15m
api_key = os.environ.get("API_KEY")
api_key=YOUR_API_KEY
api_key = "your-api-key-here"
api_key: <API_KEY>
API_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
API_KEY="sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-your-key-here
ANTHROPIC_API_KEY=sk-ant-...
export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
AWS_ACCESS_KEY_ID=${AWS_ACCESS_KEY_ID}
stripe.api_key = settings.STRIPE_SECRET_KEY
STRIPE_SECRET_KEY=sk_test_...
apiKey: process.env.API_KEY,
apiKey: import.meta.env.VITE_API_KEY,
apiKey: config.apiKey || '',
const apiKey = localStorage.getItem('apiKey');
const apiKeyHeader = "X-Api-Key";
API_KEY_HEADER = "x-api-key"
api_key_prefix: "Bearer"
apiKeyName: production-read-only-key
secret = "secret"
secret: "my-secret"
secretName: my-tls-certificate
secret_name = "prod/app/database-credentials"
secretKeyRef:
    secretKeyRef: { name: app-secrets, key: database-url }
        key: database-password
secrets: inherit
secret = Secret.from_name("openai-secret")
SECRET_KEY = env("SECRET_KEY")
SECRET_KEY = config('SECRET_KEY', default='unsafe')
client_secret: ENC[AES256_GCM,data:placeholder,type:str]
client_secret = var.client_secret
client_secret = data.vault_generic_secret.app.data["client_secret"]
client_secret: !vault |
client_secret: !Ref ClientSecret
clientSecret: @Microsoft.KeyVault(SecretUri=https://v.vault.azure.net/secrets/x)
secret: op://vault/item/field
secret = "vault:secret/data/app#password"
secret_path = "/run/secrets/db_password"
private_key = "/etc/ssl/private/server.key"
private_key_path: ~/.ssh/id_rsa
ssh_private_key_file=/home/bob/.ssh/id_ed25519
privateKey: fs.readFileSync('server.key')
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
-----BEGIN RSA PUBLIC KEY-----
-----BEGIN PGP PUBLIC KEY BLOCK-----
-----BEGIN PGP SIGNATURE-----
-----BEGIN CERTIFICATE REQUEST-----
-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----
-----BEGIN RSA PRIVATE KEY-----<your key here>-----END RSA PRIVATE KEY-----
if "-----BEGIN PRIVATE KEY-----" in text:
pattern = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
postgres://localhost:5432/app
postgres://user@localhost/db
postgres://${DB_USER}:${DB_PASS}@${DB_HOST}/app
postgres://<user>:<password>@<host>/<db>
postgresql://{user}:{password}@{host}:{port}/{name}
mongodb://%s:%s@%s/%s
redis://localhost:6379/0
amqp://mq:5672/
https://user@github.com/o/r.git
https://github.com/o/r.git
git@github.com:o/r.git
ssh://git@github.com:22/o/r.git
https://host.dev/path?x=1:2@3
https://host.dev:8443/@scope/package
http://[::1]:8080/
mailto:bob@host.dev
npm install @scope/package@1.2.3
https://unpkg.com/react@18.2.0/umd/react.production.min.js
file:///home/bob/token.txt
https://***:***@git.host.dev/r.git
https://x-access-token:${{ github.token }}@github.com/o/r
key: value
key: "primary"
key={item.id}
key = "name"
<li key={user.id}>{user.name}</li>
sort_key = "created_at"
primary_key=True
foreign_key: user_id
partition_key = "tenant#2024"
KeyError: 'token'
keydown: handleKeyDown
if event.key == "Enter":
keyboard_layout: "us-intl"
hotkey = "ctrl+shift+p"
keywords: ["auth", "token", "password"]
public_key_path = "keys/public.pem"
translation_key = "auth.login.password_placeholder"
i18nKey: "settings.security.apiKeys.title"
registry_key = r"HKLM\Software\Vendor\Product"
map_key: str = "session:%s"
authKey: authKeyFromRequest(req)
auth: { type: "basic" }
auth = HTTPBasicAuth(user, passwd)
author = "Jane Doe"
authors = ["A. Person <a@person.dev>"]
authority: "https://login.microsoftonline.com/common"
authentication_backend = "django.contrib.auth.backends.ModelBackend"
AUTH_USER_MODEL = "accounts.CustomUser"
auth_provider: "google-oauth2"
auth_mode = "client-credentials"
authorization_endpoint: https://id.host.dev/authorize
credentials: include
credentials = Credentials.from_service_account_file("sa.json")
credential_source: environment
const credentials = fromNodeProviderChain();
credentials_file: "/etc/app/credentials.json"
session_id = str(uuid4())
session = requests.Session()
session_timeout = 1800
sessionStorage.setItem("theme", "dark")
cookie_name = "app_session"
Cookie: theme=dark; lang=en-GB
Set-Cookie: lang=en; Path=/; Max-Age=31536000
document.cookie = "theme=dark; path=/"
cookies: enabled
res.cookie('theme', theme, { maxAge: 900000 })
salt = os.urandom(16)
pepper: 2 tsp
passed = 42
pass_rate: 0.97
bypass_cache = true
compass_heading = 270
passenger_count: 4
passport_number_field = "passport"
pass  # nothing to do
tests passed: 1234 failed: 0
PASS: test_login_with_wrong_password
passthrough = True
pwd: /home/bob/project
pwd = os.getcwd()
PWD=/usr/local/app
OLDPWD=/tmp/build-1234
echo $PWD
cd "$(pwd)"
monkey = "see, monkey do"
turkey: 4kg
tokenize(text)[:128]
The password must contain at least one digit and one symbol.
Tokens are rotated every 30 days by the platform team.
Set the `token` option to your personal access token.
See https://docs.host.dev/auth#api-keys for how to make a key.
# TODO: read the password from the vault
// The secret is stored in AWS Secrets Manager under prod/app
/* api key goes here */
* @param {string} password the user's password
* @param token - bearer token
:param password: the password to hash
@param apiKey clé d'API
## Tokens and passwords
- [ ] rotate the API key
| `password` | string | yes | The account's password |
| token | `STRING` | session token | 
ERROR invalid password for user bob from 10.0.0.7
WARN token expired at 2026-03-01T10:22:31Z
INFO loaded 14 secrets from /run/secrets
DEBUG api_key lookup took 12ms
level=info msg="token refreshed" expires_in=3600
panic: missing required key "password"
ValueError: password cannot be empty
TypeError: Cannot read properties of undefined (reading 'token')
OperationalError: (1045, "Access denied for user 'root'@'localhost' (using password: YES)")
function a(b,c){var d=b.token,e=c.password;return d?e:null}
!function(e,t){"object"==typeof exports?t(exports):e.token=t}(this,function(e){})
var k="getOwnPropertyDescriptor",p="passwordInputElement";
e.exports={tokenType:"bearer",grantType:"password"}
grant_type=password&username=bob
grant_type=client_credentials
scope=openid profile email
response_type=code&client_id=my-app&redirect_uri=https%3A%2F%2Fapp.dev%2Fcb
Content-Type: multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW
boundary = "=_NextPart_000_0012_01D9"
Accept: application/vnd.github.v3+json
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36
charset = "abcdefghijklmnopqrstuvwxyz0123456789"
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
password_chars = string.ascii_letters + string.digits
regex = r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z\d]{8,}$"
password: Joi.string().min(8).required(),
password: z.string().min(8),
password: yup.string().required("Password is required"),
password: faker.internet.password(),
password: Faker::Internet.password(min_length: 10)
t.string "password_digest", null: false
add_column :users, :reset_password_token, :string
CREATE TABLE users (id SERIAL, password VARCHAR(255) NOT NULL, token TEXT);
SELECT password, token FROM users WHERE id = $1;
INSERT INTO settings (key, value) VALUES ('password_min_length', '12');
GRANT ALL ON app.* TO 'bob'@'%' IDENTIFIED BY PASSWORD '*';
ALTER USER bob WITH PASSWORD :'pw';
variable "db_password" { type = string, sensitive = true }
output "token" { value = module.auth.token }
password = random_password.db.result
password = aws_ssm_parameter.db_password.value
password: valueFrom
valueFrom: { secretKeyRef: { name: db, key: password } }
kind: SecretStore
kind: ServiceAccount
type: kubernetes.io/service-account-token
imagePullSecrets: [{ name: regcred }]
secret/db-credentials created
volumes: [{ name: secrets, secret: { secretName: app-secrets } }]
env: [{ name: API_KEY, valueFrom: { secretKeyRef: { name: s, key: k } } }]
steps: [{ run: echo "::add-mask::$TOKEN" }]
permissions: { id-token: write, contents: read }
with: { token: ${{ steps.app.outputs.token }} }
password: "{{ lookup('env', 'DB_PASSWORD') }}"
ansible_password: "{{ vault_password }}"
password: !ENV ${DB_PASSWORD}
password = <%= ENV["DB_PASSWORD"] %>
password: <%= Rails.application.credentials.db[:password] %>
password="#{ENV['DB_PASSWORD']}"
<password>${db.password}</password>
<password>@db.password@</password>
<secret/>
<token></token>
<add key="ApiKey" value="" />
<property name="password" value="${jdbc.password}"/>
jdbc:postgresql://localhost:5432/app?user=app
jdbc:h2:mem:test;DB_CLOSE_DELAY=-1
Server=localhost;Database=app;Trusted_Connection=True;
host=localhost port=5432 dbname=app user=app
amount=1234567890 currency=EUR
version = "1.2.3-beta.4+build.567"
python_requires = ">=3.11,<4.0"
"react": "^18.2.0",
serde = { version = "1.0.197", features = ["derive"] }
node_modules/.pnpm/@babel+core@7.24.0/node_modules/@babel/core
com.fasterxml.jackson.core:jackson-databind:2.17.0
registry.gitlab.com/group/project/image:1.2.3-alpine
gcr.io/google-containers/pause-amd64:3.1
s3://my-bucket/path/to/model-v2-final-0123.bin
C:\Users\bob\AppData\Local\Temp\token_cache_v2.json
/usr/lib/x86_64-linux-gnu/libsecret-1.so.0
src/main/java/com/acme/security/TokenAuthenticationFilter.java
tests/fixtures/password_reset/test_token_expired_2024.json
test_user_can_reset_password_with_valid_token_v2
handleUserPasswordResetTokenValidationError
USER_PASSWORD_AUTH_FLOW_ENABLED_V2
getAWSSecretAccessKeyFromEnvironmentOrThrow
SecretManagerServiceClientImplFactory2
org.springframework.security.authentication.UsernamePasswordAuthenticationToken
"name": "token-bucket-rate-limiter",
"description": "Password strength meter for React 18",
rate_limit_key: "ip:203.0.113.7:login"
feature_flag_key = "new-checkout-flow-2024-q3"
redis_key = f"session:{session_id}:cart"
lock_key="jobs:reindex:2026-03-01"
idempotency_key = "order-2026-000123"
object_key: uploads/2026/03/01/photo-001.jpg
apiVersion: external-secrets.io/v1beta1
token_bucket_capacity = 1000
translation: "Le jeton d'accès a expiré"
"token_expired": "Ihre Sitzung ist abgelaufen, bitte melden Sie sich erneut an",
"パスワード": "パスワードを入力してください",
"password": "パスワード",
"api_key_label": "Clave de API",
password: contraseña
"secret_question": "What was the name of your first pet?",
secret_santa_year = 2025
top_secret = False
openssl rand -hex 32
openssl genrsa -out private.pem 2048
ssh-keygen -t ed25519 -C "bob@host.dev"
htpasswd -c .htpasswd bob
gpg --export-secret-keys bob@host.dev > backup.asc
kubectl get secret db -o jsonpath='{.data.password}' | base64 -d
aws secretsmanager get-secret-value --secret-id prod/db
gcloud auth print-access-token
gh auth token
vault kv get -field=password secret/app
echo "$PASSWORD" | docker login -u bob --password-stdin
export TOKEN=$(cat /run/secrets/token)
TOKEN=`cat token.txt`
read -s PASSWORD
unset AWS_SECRET_ACCESS_KEY
: "${API_KEY:?must be set}"
API_KEY=
API_KEY=""
token=
SECRET=None
password: ~
password: !!null
token: "TODO"
token: "N/A"
token = "foo"
token = "abc123"
token = "test-token"
token = "fake-token-for-tests"
token="my_token"
api_key="test"
api_key = "dummy-api-key-for-unit-tests"
secret_key = "insecure-dev-key"
secret = "not-a-real-secret"
password="hunter2-example"
accessKey: minioadmin
password: postgres
POSTGRES_PASSWORD: postgres
MYSQL_ROOT_PASSWORD=root
RABBITMQ_DEFAULT_PASS=guest
REDIS_PASSWORD=redis
admin:admin
user:pass
""".strip().splitlines()


def cases() -> list[str]:
    """Every look-alike, always in the same order."""
    made = [make(line, n) for line in RANDOM for n in range(3)]
    return made + PLAIN

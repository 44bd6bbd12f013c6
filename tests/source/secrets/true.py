"""Secrets in the places where people leave them."""

from __future__ import annotations

from .recipes import make

# One per line: a token's shape, as its issuer documents it.
SHAPES = """
AKIA<u16>
ASIA<u16>
ABSK<B110>==
AIza<b35>
ya29.a0<b120>
GOCSPX-<b28>
1//0<b60>
AAAA<b7>:APA91b<b134>
dop_v1_<h64>
doo_v1_<h64>
LTAI<a20>
AKID<a32>
HRKU-<g0>
fm2_lJP<B80>
rnd_<a32>
nfp_<a40>
sbp_<h40>
sb_secret_<b31>
pscale_tkn_<b43>
pscale_pw_<b43>
v1.0-<h24>-<h146>
tskey-auth-k<a11>CNTRL-<a32>
hvs.CAESI<b90>
hvb.AAAAAQ<b120>
dp.pt.<a43>
dp.st.dev.<a43>
pul-<h40>
ghp_<a36>
gho_<a36>
ghu_<a36>
ghs_<a36>
ghr_<a76>
github_pat_11<u20>_<a59>
glpat-<b20>
glptt-<h40>
gldt-<b20>
glrt-<b20>
GR1348941<b20>
npm_<a36>
pypi-AgEIcHlwaS5vcmc<b150>
rubygems_<h48>
oy2<l43>
cio<a32>
dckr_pat_<b27>
AKCp<a69>
CLOJARS_<l60>
bkua_<h40>
CCIPAT_<a22>_<h40>
squ_<h40>
sgp_<h16>_<h40>
ATATT3xFfGF0<b170>=<H8>
ATBB<a32>
PMAK-<h24>-<h34>
sk-proj-<b74>T3BlbkFJ<b74>
sk-<a20>T3BlbkFJ<a20>
sk-svcacct-<b60>
sk-ant-api03-<b93>AA
sk-ant-admin01-<b93>AA
sk-or-v1-<h64>
sk-<h32>
sk-lf-<g0>
hf_<A34>
gsk_<a52>
r8_<a37>
pplx-<a48>
xai-<a80>
nvapi-<b64>
tvly-<a32>
lsv2_pt_<h32>_<h10>
pcsk_<a6>_<a63>
sk_<h48>
sk_live_<a24>
sk_test_<a99>
rk_live_<a24>
whsec_<a32>
shpat_<h32>
shpss_<h32>
sq0atp-<b22>
sq0csp-<b43>
EAAA<b60>
access_token$production$<l16>$<h32>
FLWSECK-<h32>-X
access-production-<g0>
EZAK<a54>
xoxb-<d12>-<d12>-<a24>
xoxp-<d12>-<d12>-<d12>-<h32>
xapp-1-A<u10>-<d13>-<h64>
xoxe.xoxp-1-<B0><a146>
https://hooks.slack.com/services/T<u8>/B<u10>/<a24>
https://discord.com/api/webhooks/<d18>/<b68>
SG.<b22>.<b43>
SK<h32>
key-<h32>
xkeysib-<h64>-<a16>
re_<a8>_<a24>
NRAK-<u27>
NRII-<b32>
sntrys_<B100>
sntryu_<h64>
glsa_<a32>_<h8>
glc_<a100>
dapi<h32>
dt0c01.<u24>.<u64>
lin_api_<a40>
ntn_<d11><a35>
secret_<a43>
figd_<b40>
pat-na1-<g0>
CFPAT-<b43>
tfp_<a44>_<a6>
sl.<b140>
sk.eyJ<b80>.<b22>
EAACEdEose0cBA<a150>
AAAAAAAAAAAAAAAAAAAAA<a80>
aio_<a28>
AGE-SECRET-KEY-1<u58>
<j0>
<h32>-us14
<d10>:AA<b33>
<a14>.atlasv1.<b64>
pat<a14>.<h64>
<a3>8Q~<a34>
<a52>JQQJ99<a26>
""".split()

PLACES = (
    'client = Client("{s}")',
    "2026-03-01T10:22:31Z WARN request failed auth={s} status=401",
    "export THING={s}",
    "  - value: '{s}'",
    '{{"name": "x", "value": "{s}"}}',
    "# was {s} until March",
    "https://api.host.dev/v1/items?k={s}&page=2",
    "docker run -e CFG={s} image:latest",
    "| prod | `{s}` | ops |",
    'const conf = {{ x: "{s}" }};',
)

# Whole lines; the secret is what stands between ⟦ and ⟧.
LINES = r"""
aws_secret_access_key = ⟦<B40>⟧
AWS_SECRET_ACCESS_KEY=⟦<B40>⟧
"SecretAccessKey": "⟦<B40>⟧",
aws_session_token = ⟦<B200>⟧
DefaultEndpointsProtocol=https;AccountName=store;AccountKey=⟦<w64>⟧;EndpointSuffix=core.windows.net
Endpoint=sb://bus.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=⟦<w32>⟧
https://store.blob.core.windows.net/c/f?sv=2023-01-03&sr=b&sig=⟦<a43>%3D⟧
AZURE_CLIENT_SECRET="⟦<a3>8Q~<a34>⟧"
okta_token: ⟦00<b40>⟧
Authorization: SSWS ⟦00<b40>⟧
TWILIO_AUTH_TOKEN=⟦<h32>⟧
MAILGUN_API_KEY=⟦<h32>-<h8>-<h8>⟧
mailgun.client({ username: 'api', key: '⟦<h32>-<h8>-<h8>⟧' })
DD_API_KEY=⟦<h32>⟧
DATADOG_APP_KEY: ⟦<h40>⟧
COHERE_API_KEY=⟦<a40>⟧
mistral_api_key = "⟦<a32>⟧"
FASTLY_API_TOKEN=⟦<b32>⟧
CLOUDFLARE_API_TOKEN=⟦<b40>⟧
CF_API_KEY=⟦<h37>⟧
HEROKU_API_KEY=⟦<g0>⟧
client_secret: ⟦<g0>⟧
DISCORD_TOKEN=⟦M<a23>.<a6>.<b27>⟧
discord_bot.run("⟦N<a23>.<a6>.<b38>⟧")
POSTMARK_SERVER_TOKEN=⟦<g0>⟧
SENTRY_DSN=https://<h32>:⟦<h32>⟧@o12.ingest.sentry.io/45
VAULT_TOKEN=⟦s.<a24>⟧
SECRET_KEY = 'django-insecure-⟦<l50>⟧'
secret_key_base: ⟦<h128>⟧
APP_KEY=base64:⟦<w32>⟧
JWT_SECRET=⟦<a48>⟧
jwt.sign(payload, secret="⟦<a32>⟧")
session_secret: "⟦<a40>⟧"
"client_secret": "⟦<a24>⟧",
clientSecret: '⟦<b36>⟧',
private String apiKey = "⟦<a32>⟧";
const API_KEY = "⟦<a40>⟧";
var apiToken string = "⟦<h40>⟧"
let token: &str = "⟦<a36>⟧";
static const char *auth_token = "⟦<h32>⟧";
$apiKey = '⟦<a32>⟧';
@api_key = "⟦<h32>⟧"
ENV API_TOKEN ⟦<a32>⟧
ARG NPM_TOKEN=⟦<a36>⟧
api_key => '⟦<a30>⟧',
:secret_key => "⟦<a30>⟧",
  encryption_key: ⟦<w32>⟧
signing_key = "⟦<w32>⟧"
<add key="ApiKey" value="⟦<a32>⟧" />
<property name="accessToken" value="⟦<a40>⟧"/>
<apiKey>⟦<a32>⟧</apiKey>
<client-secret>⟦<b32>⟧</client-secret>
auth_token: "⟦<h40>⟧"
x-api-key: ⟦<a40>⟧
-H "X-Api-Key: ⟦<a32>⟧" https://api.host.dev
-H 'X-Auth-Token: ⟦<h32>⟧'
headers = {"Authorization": "Bearer ⟦<a40>⟧"}
Authorization: Bearer ⟦<j0>⟧
authorization: token ⟦<h40>⟧
Authorization: Basic ⟦<w18>⟧
req.Header.Set("Authorization", "Bearer ⟦<b43>⟧")
curl -H "Authorization: Bearer ⟦<a64>⟧" https://x.dev
proxy-authorization: Basic ⟦<w24>⟧
.set('Authorization', 'Token ⟦<h40>⟧')
password = "⟦<p12>⟧"
password: ⟦<p14>⟧
Password=⟦<p16>⟧;Server=db
DB_PASSWORD=⟦<p12>⟧
db_password: "⟦<p10>⟧"
"password": "⟦<p12>⟧",
'password' => '⟦<p12>⟧',
define('DB_PASSWORD', '⟦<p12>⟧');
$dbpass = "⟦<p12>⟧";
PGPASSWORD=⟦<p12>⟧ psql -h db
MYSQL_ROOT_PASSWORD: ⟦<p12>⟧
spring.datasource.password=⟦<p12>⟧
POSTGRES_PASSWORD=⟦<a20>⟧
smtp_pass = ⟦<p12>⟧
EMAIL_HOST_PASSWORD = '⟦<k16>⟧'
String password = "⟦<p12>⟧";
password := "⟦<p12>⟧"
let password: String = "⟦<p12>⟧".into();
user.setPassword("⟦<p12>⟧");
.withPassword("⟦<p12>⟧")
<password>⟦<p12>⟧</password>
<Pass>⟦<p12>⟧</Pass>
<input name="password" value="⟦<p12>⟧">
requirepass=⟦<a32>⟧
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="⟦<p12>⟧";
passphrase: '⟦<p20>⟧'
keystore_password=⟦<p12>⟧
ansible_become_pass: ⟦<p12>⟧
LDAP_BIND_PASSWORD='⟦<p16>⟧'
admin_password = "⟦<p16>⟧" # rotate
backup.password=⟦<a24>⟧
pwd: "⟦<p12>⟧"
Pwd=⟦<p12>⟧;Encrypt=yes
jdbc:sqlserver://db:1433;databaseName=x;user=sa;password=⟦<p12>⟧;
jdbc:mysql://db/x?user=root&password=⟦<p12>⟧
jdbc:oracle:thin:scott/tiger@db --password ⟦<p12>⟧
DRIVER={ODBC Driver 17};SERVER=db;UID=sa;PWD=⟦<p12>⟧
postgres://app:⟦<a16>⟧@db.host:5432/app
postgresql+asyncpg://app:⟦<p10>⟧@db/app
mysql://root:⟦secret⟧@localhost:3306/app
mongodb+srv://u:⟦<a16>⟧@c0.mongodb.net/x
redis://:⟦<a24>⟧@cache:6379/0
rediss://default:⟦<a32>⟧@eu1.upstash.io:6379
amqp://guest:⟦<a12>⟧@mq:5672/
amqps://u:⟦<a32>⟧@mq.dev/vh
https://bob:⟦<p12>⟧@git.host.dev/r.git
ftp://bob:⟦hunter2⟧@ftp.host.dev/
smtp://apikey:⟦<a40>⟧@smtp.host.dev:587
cloudinary://<d15>:⟦<b27>⟧@cloud
git clone https://⟦<a40>⟧@github.com/o/r.git
url = https://oauth2:⟦<b20>⟧@gitlab.com/o/r.git
https://⟦<h40>⟧:x-oauth-basic@github.com/o/r
DATABASE_URL="postgres://u:⟦password⟧@localhost/db"
sqlalchemy.url = mysql+pymysql://root:⟦<p12>⟧@127.0.0.1/x
http://user:⟦<a10>⟧@proxy.corp:3128
machine api.host.dev login bob password ⟦<a24>⟧
machine github.com login x-access-token password ⟦<a40>⟧
db.host:5432:app:bob:⟦<p12>⟧
*:*:*:postgres:⟦<a16>⟧
//npm.example.com/:_authToken=⟦<g0>⟧
_auth=⟦<w30>⟧
//npm.corp/:_password="⟦<w16>⟧"
{"auths": {"https://index.docker.io/v1/": {"auth": "⟦Ym9iOnMzY3IzdHA0c3N3MHJk⟧"}}}
mysql -u root -p⟦<a12>⟧ app
mysqldump -h db -uroot -p⟦<p10>⟧ --all-databases > dump.sql
mysql --user=root --password=⟦<a12>⟧ app
psql "host=db user=app password=⟦<a16>⟧"
curl -u bob:⟦<a12>⟧ https://host.dev/x
curl -s --user 'bob:⟦<p10>⟧' https://host.dev
curl -X POST -u admin:⟦<a16>⟧ -d @f https://host.dev
wget --user=bob --password=⟦<a12>⟧ https://host.dev
sshpass -p '⟦<p10>⟧' ssh bob@host
docker login -u bob -p ⟦<a20>⟧ registry.dev
docker login --username bob --password ⟦<a20>⟧
redis-cli -h cache -a ⟦<a20>⟧ ping
mongosh -u admin -p ⟦<a16>⟧ --authenticationDatabase admin
openssl pkcs12 -in f.p12 -passin pass:⟦<a12>⟧
keytool -genkey -storepass ⟦<a12>⟧ -alias x
gh auth login --with-token --token ⟦<a36>⟧
vault login -method=token token=⟦s.<a24>⟧
az login --service-principal -u app -p ⟦<a34>⟧ --tenant t
helm upgrade x --set auth.password=⟦<a16>⟧
kubectl create secret generic s --from-literal=password=⟦<a16>⟧
echo 'root:⟦<p10>⟧' | chpasswd
ldapsearch -D cn=admin -w ⟦<a14>⟧ -b dc=x
ALTER USER bob WITH PASSWORD '⟦<p12>⟧';
CREATE USER bob IDENTIFIED BY '⟦<p12>⟧';
svn co --username bob --password ⟦<a12>⟧ https://svn.dev/r
7z x archive.7z -p⟦<a12>⟧
Cookie: theme=dark; sessionid=⟦<l32>⟧
Set-Cookie: connect.sid=⟦s%3A<b32>.<a43>⟧; Path=/; HttpOnly
cookie: JSESSIONID=⟦<H32>⟧; lang=en
-b 'PHPSESSID=x' -H 'Cookie: auth=⟦<a64>⟧'
access_token=⟦<a40>⟧&token_type=bearer
"refresh_token": "⟦<b64>⟧"
"access_token":"⟦<j0>⟧"
id_token: ⟦<j0>⟧
https://h.dev/cb?access_token=⟦<a40>⟧&x=1
https://h.dev/x?api_key=⟦<h32>⟧
ws://h.dev/socket?token=⟦<a32>⟧
https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=⟦<h64>⟧
telegram: ⟦<d9>:AA<b33>⟧
webhook_secret = "⟦<h64>⟧"
hmac_key: "⟦<w32>⟧"
subscription_key = "⟦<h32>⟧"
Ocp-Apim-Subscription-Key: ⟦<h32>⟧
ACCESS_KEY: "⟦<a20>⟧"
shared_secret=⟦<a32>⟧
license_key = "⟦<u5>-<u5>-<u5>-<u5>⟧"
credentials = "⟦<a32>⟧"
self.token = "⟦<a32>⟧"
config["api_key"] = "⟦<a32>⟧"
os.environ["API_TOKEN"] = "⟦<a32>⟧"
process.env.SECRET_TOKEN = '⟦<a32>⟧';
if token == "⟦<h40>⟧":
  token: ⟦<h64>⟧
consumer_secret: ⟦<a50>⟧
export OPENAI_KEY="⟦<a48>⟧"
WANDB_API_KEY=⟦<h40>⟧
set :deploy_token, '⟦<a24>⟧'
(setq api-key "⟦<a32>⟧")
apiKey: process.env.KEY || "⟦<a32>⟧"
TOKEN ?= ⟦<a32>⟧
master_password = '⟦<p16>⟧'
root_password="⟦correct1horse2battery⟧"
password="⟦Tr0ub4dor&3⟧"
passwd=⟦S3cure-P4ss-2026⟧
ftp_password: '⟦Winter2026!⟧'
"dbPassword": "⟦x9$Lm2#qRt⟧"
""".strip().splitlines()

BLOCKS = (
    "-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----\n{body}\n-----END EC PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\r\n{body}\r\n-----END ENCRYPTED PRIVATE KEY-----",
    "-----BEGIN DSA PRIVATE KEY-----\n{body}\n-----END DSA PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{body}\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----",
    '{{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n{flat}\\n-----END PRIVATE KEY-----\\n"}}',
    "  key: |\n    -----BEGIN RSA PRIVATE KEY-----\n    {body}\n    -----END RSA PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n{body}\n-----END RSA PRIVATE KEY-----",
    "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 4\n{body}\nPrivate-MAC: 00",
    "-----BEGIN RSA PRIVATE KEY-----\n{body}\n",
)

DOCUMENTS = (
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  user: YWRtaW4=\n  pass: ⟦<w18>⟧\n",
    "kind: Secret\napiVersion: v1\nstringData:\n  config: ⟦<a20>⟧\n",
    '{"apiVersion": "v1", "kind": "Secret", "data": {"cert": "⟦<w30>⟧"}}',
    "apiVersion: v1\ndata:\n  .dockerconfigjson: ⟦<w60>⟧\nkind: Secret\n",
)


def cases() -> list[tuple[str, str]]:
    """(text, the secret in it), always in the same order."""
    found: list[tuple[str, str]] = []
    for index, shape in enumerate(SHAPES):
        secret = make(shape.replace("<B0>", ""), index)
        place = PLACES[index % len(PLACES)]
        found.append((place.format(s=secret), secret))
    for index, line in enumerate(LINES):
        found.append(_marked(make(line, index)))
    for index, block in enumerate(BLOCKS):
        rows = [make("<B64>", (index, row)) for row in range(4)]
        indent = "    " if block.startswith("  key") else ""
        text = block.format(body=("\n" + indent).join(rows), flat="\\n".join(rows))
        found.append((text, rows[2]))
    for index, document in enumerate(DOCUMENTS):
        found.append(_marked(make(document, index)))
    return found


def _marked(text: str) -> tuple[str, str]:
    start, end = text.index("⟦"), text.index("⟧")
    return text[:start] + text[start + 1 : end] + text[end + 1 :], text[start + 1 : end]

"""What secrets look like, as data: one row per kind, every quantifier bounded.

HOOK PATH. A row costs nothing until one of its literals occurs in a text; only then is its pattern compiled.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_HEX = "[0-9a-f]"
_WORD = "[A-Za-z0-9]"
_B64U = "[A-Za-z0-9_-]"
_UUID = rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"

FLAGS: Final = r"[ \t]-(?:[puaw]|-user|-proxy-user|-auth)"

# Tokens that say by their first characters what they are: (rule, literal beginnings, the rest).
# INVARIANT: a tail is tried only where its beginning stands, and is a sequence of bounded classes.
PREFIXED: Final[tuple[tuple[str, str, str], ...]] = (
    # clouds
    ("aws-access-key", "AKIA ASIA ABIA ACCA", r"(?![A-Z0-9]{9}EXAMPLE)[A-Z0-9]{16}"),
    ("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{100,300}={0,2}"),
    ("google-api-key", "AIza", rf"{_B64U}{{35}}"),
    ("google-oauth-token", "ya29.", rf"{_B64U}{{20,1500}}"),
    ("google-client-secret", "GOCSPX-", rf"{_B64U}{{24,40}}"),
    ("google-refresh-token", "1//0", rf"{_B64U}{{30,200}}"),
    ("firebase-server-key", "AAAA", rf"{_B64U}{{7}}:{_B64U}{{120,160}}"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{64}}"),
    ("alibaba-access-key", "LTAI", rf"{_WORD}{{16,24}}"),
    ("tencent-secret-id", "AKID", rf"{_WORD}{{32}}"),
    ("heroku-key", "HRKU-", rf"{_B64U}{{36,80}}"),
    ("flyio-token", "fm2_", r"[A-Za-z0-9+/=_,-]{40,1500}"),
    ("render-key", "rnd_", rf"{_WORD}{{28,40}}"),
    ("netlify-token", "nfp_", rf"{_WORD}{{36,60}}"),
    ("supabase-key", "sbp_ sb_secret_", rf"{_B64U}{{30,60}}"),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_=.-]{32,64}"),
    ("cloudflare-origin-key", "v1.0-", rf"{_HEX}{{24}}-{_HEX}{{146}}"),
    ("tailscale-key", "tskey-", r"[a-z]{3,12}-[A-Za-z0-9-]{16,80}"),
    ("vault-token", "hvs. hvb. hvr.", rf"{_B64U}{{24,300}}"),
    ("doppler-token", "dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", rf"{_WORD}{{40,48}}"),
    ("doppler-token", "dp.st.", rf"(?:[a-z0-9_-]{{1,40}}\.)?{_WORD}{{40,48}}"),
    ("pulumi-token", "pul-", rf"{_HEX}{{40}}"),
    ("infracost-key", "ico-", rf"{_WORD}{{32}}"),
    # code hosts, registries, builds
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_WORD}{{36,255}}"),
    ("github-fine-grained-token", "github_pat_", r"[A-Za-z0-9_]{36,255}"),
    (
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glcbt- glsoat- glft- glimt- glagent- gloas- glffct-",
        r"[A-Za-z0-9_=-]{20,300}(?:\.[A-Za-z0-9]{2}\.[A-Za-z0-9]{9})?",
    ),
    ("gitlab-runner-token", "GR1348941", rf"{_B64U}{{20}}"),
    ("npm-token", "npm_", rf"{_WORD}{{36}}"),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", rf"{_B64U}{{40,1000}}"),
    ("rubygems-key", "rubygems_", rf"{_HEX}{{48}}"),
    ("nuget-key", "oy2", r"[a-z0-9]{43}"),
    ("crates-token", "cio", rf"{_WORD}{{32}}"),
    ("docker-token", "dckr_pat_ dckr_oat_", rf"{_B64U}{{27,40}}"),
    ("jfrog-key", "AKCp", rf"{_WORD}{{69,70}}"),
    ("clojars-token", "CLOJARS_", r"[0-9a-z]{60}"),
    ("buildkite-token", "bkua_", rf"{_HEX}{{40}}"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", rf"{_WORD}{{22}}_{_HEX}{{40}}"),
    ("sonar-token", "squ_ sqp_ sqa_", rf"{_HEX}{{40}}"),
    ("sourcegraph-token", "sgp_ slk_", rf"(?:{_HEX}{{16}}_|local_)?{_HEX}{{40}}"),
    ("atlassian-token", "ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{60,300}"),
    ("bitbucket-token", "ATBB", rf"{_WORD}{{32}}"),
    ("postman-key", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    ("prefect-key", "pnu_", rf"{_WORD}{{36}}"),
    # models
    (
        "openai-key",
        "sk-proj- sk-svcacct- sk-admin- sk-None-",
        rf"{_B64U}{{20,220}}",
    ),
    ("anthropic-key", "sk-ant-", rf"{_B64U}{{24,200}}"),
    ("openrouter-key", "sk-or-v1-", rf"{_HEX}{{64}}"),
    ("langfuse-key", "sk-lf-", _UUID),
    ("openai-key", "sk-", rf"{_WORD}{{32,64}}"),
    ("huggingface-token", "hf_ api_org_", rf"{_WORD}{{34,40}}"),
    ("groq-key", "gsk_", rf"{_WORD}{{40,60}}"),
    ("replicate-token", "r8_", rf"{_WORD}{{37,40}}"),
    ("perplexity-key", "pplx-", rf"{_WORD}{{40,60}}"),
    ("xai-key", "xai-", rf"{_WORD}{{64,90}}"),
    ("nvidia-key", "nvapi-", rf"{_B64U}{{50,80}}"),
    ("tavily-key", "tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{24,40}"),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", rf"{_HEX}{{32}}_{_HEX}{{10}}"),
    ("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{40,90}"),
    ("elevenlabs-key", "sk_", rf"{_HEX}{{48}}"),
    # payments and shops
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", rf"{_WORD}{{16,255}}"),
    ("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{24,128}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    ("square-token", "sq0atp- sq0csp- sq0idp-", rf"{_B64U}{{22,43}}"),
    ("square-token", "EAAA", rf"{_B64U}{{60}}"),
    ("braintree-token", "access_token$production$ access_token$sandbox$", rf"[0-9a-z]{{16}}\${_HEX}{{32}}"),
    ("flutterwave-key", "FLWSECK_TEST- FLWSECK-", r"[0-9a-zA-Z]{12,40}(?:-X)?"),
    ("plaid-token", "access-production- access-sandbox- access-development-", _UUID),
    ("easypost-key", "EZAK EZTK", rf"{_WORD}{{54}}"),
    # messages and mail
    (
        "slack-token",
        "xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxc- xoxd- xoxe- xoxe.xoxb- xoxe.xoxp- xapp-",
        r"[A-Za-z0-9%-]{16,300}",
    ),
    (
        "slack-webhook",
        "hooks.slack.com/",
        r"(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,200}",
    ),
    (
        "discord-webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        rf"\d{{17,20}}/{_B64U}{{60,80}}",
    ),
    ("teams-webhook", ".webhook.office.com/webhookb2/", r"[A-Za-z0-9@/-]{60,250}"),
    ("sendgrid-key", "SG.", rf"{_B64U}{{16,32}}\.{_B64U}{{32,64}}"),
    ("twilio-key", "SK", rf"{_HEX}{{32}}"),
    ("mailgun-key", "key- pubkey-", rf"{_HEX}{{32}}"),
    ("brevo-key", "xkeysib- xsmtpsib-", rf"{_HEX}{{64}}-{_WORD}{{16}}"),
    ("resend-key", "re_", rf"{_WORD}{{8}}_{_WORD}{{20,40}}"),
    # observing
    ("newrelic-key", "NRAK- NRII- NRRA- NRIQ-", r"[A-Za-z0-9_-]{24,64}"),
    ("sentry-token", "sntrys_ sntryu_ sntrya_", r"[A-Za-z0-9+/=_-]{48,400}"),
    ("grafana-token", "glsa_ glc_", r"[A-Za-z0-9+/=_]{32,400}"),
    ("databricks-token", "dapi dkea dose", rf"{_HEX}{{32}}(?:-\d)?"),
    ("dynatrace-token", "dt0c01. dt0s01. dt0s02.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    # work and content
    ("linear-key", "lin_api_ lin_oauth_", rf"{_WORD}{{32,64}}"),
    ("notion-token", "ntn_", rf"{_WORD}{{40,50}}"),
    ("notion-token", "secret_", rf"{_WORD}{{43}}"),
    ("figma-token", "figd_ figo_", rf"{_B64U}{{36,60}}"),
    ("hubspot-token", "pat-na1- pat-eu1- pat-na2-", _UUID),
    ("contentful-token", "CFPAT-", rf"{_B64U}{{43}}"),
    ("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{40,60}"),
    ("dropbox-token", "sl.", rf"{_B64U}{{120,200}}"),
    ("mapbox-token", "sk.eyJ", rf"{_B64U}{{40,200}}\.{_B64U}{{20,40}}"),
    ("facebook-token", "EAACEdEose0cBA EAAG EAAC EAAB", rf"{_WORD}{{90,250}}"),
    ("twitter-bearer", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{60,120}"),
    ("adafruit-key", "aio_", rf"{_WORD}{{28}}"),
    ("onepassword-token", "ops_eyJ", r"[A-Za-z0-9+/=_-]{200,1500}"),
    ("age-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}"),
    ("readme-key", "rdme_", r"[a-z0-9]{60,80}"),
    # json web tokens: three parts, or five when encrypted
    (
        "jwt",
        "eyJ",
        rf"{_B64U}{{8,4000}}\.(?:eyJ{_B64U}{{8,8000}}|{_B64U}{{0,1000}})\.{_B64U}{{8,2000}}(?:\.{_B64U}{{8,8000}}\.{_B64U}{{16,64}})?",
    ),
)

# Kinds known by something in their middle or around them: (rule, gate, literals, back, ahead, pattern).
# Literals are in lower case, separated by `|`. With `ahead` 0 the pattern starts at a literal; otherwise it is
# searched from `back` characters before the literal to `ahead` after it. The secret is the group `s`.
# A row is tried only when its gate is open: `run`, a literal stands in a long run of token characters; `near`,
# there is such a run; `flag`, there is a command-line flag that takes a secret; `text`, always.
FLOATING: Final[tuple[tuple[str, str, str, int, int, str], ...]] = (
    (
        "azure-client-secret",
        "run",
        "q~",
        40,
        60,
        r"""(?<![A-Za-z0-9_~.-])(?P<s>[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})(?![A-Za-z0-9_~.-])""",
    ),
    (
        "azure-key",
        "run",
        "jqqj99",
        60,
        60,
        r"""(?<![A-Za-z0-9])(?P<s>[A-Za-z0-9]{44,56}JQQJ99[A-Za-z0-9]{20,34})(?![A-Za-z0-9])""",
    ),
    (
        "azure-storage-key",
        "run",
        "accountkey=|sharedaccesskey=|sharedsecret=",
        0,
        0,
        r"""(?i:accountkey|sharedaccesskey|sharedsecret)=(?P<s>[A-Za-z0-9+/]{40,90}={0,2})""",
    ),
    ("azure-sas", "run", "sig=", 1, 120, r"""[?&;]sig=(?P<s>[A-Za-z0-9%/+]{40,100}={0,2})"""),
    (
        "aws-signature",
        "run",
        "x-amz-signature=|x-amz-security-token=",
        0,
        0,
        r"""(?i:x-amz-signature|x-amz-security-token)=(?P<s>[A-Za-z0-9%/+_-]{40,2000})""",
    ),
    (
        "openai-key",
        "run",
        "t3blbkfj",
        90,
        100,
        r"""(?<![A-Za-z0-9])(?P<s>sk-[A-Za-z0-9_-]{20,80}T3BlbkFJ[A-Za-z0-9_-]{20,80})""",
    ),
    ("mailchimp-key", "run", "-us", 33, 6, r"""(?<![0-9a-f])(?P<s>[0-9a-f]{32}-us\d{1,2})(?!\d)"""),
    (
        "telegram-bot-token",
        "run",
        ":aa",
        11,
        40,
        r"""(?<![0-9A-Za-z])(?P<s>\d{8,10}:AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])""",
    ),
    (
        "terraform-token",
        "run",
        ".atlasv1.",
        15,
        80,
        r"""(?<![A-Za-z0-9])(?P<s>[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,70})""",
    ),
    (
        "airtable-token",
        "run",
        "pat",
        0,
        0,
        r"""(?<![A-Za-z0-9])(?P<s>pat[A-Za-z0-9]{14}\.[0-9a-f]{64})(?![0-9a-f])""",
    ),
    (
        "mailgun-key",
        "near",
        "mailgun",
        0,
        300,
        r"""(?<![0-9a-f-])(?P<s>[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})(?![0-9a-f-])""",
    ),
    (
        "discord-token",
        "near",
        "discord|bot",
        200,
        300,
        r"""(?<![A-Za-z0-9_.-])(?P<s>[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})(?![A-Za-z0-9_-])""",
    ),
    (
        "okta-token",
        "near",
        "okta|ssws",
        120,
        200,
        r"""(?<![A-Za-z0-9_-])(?P<s>00[A-Za-z0-9_-]{40})(?![A-Za-z0-9_-])""",
    ),
    (
        "mysql-password",
        "flag",
        "mysql|mariadb",
        0,
        0,
        r"""\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump)\b(?:[ \t]{1,4}(?!-p\S)\S{1,120}){0,12}?[ \t]{1,4}-p(?P<s>[^\s'\"`;|&]{4,128})""",
    ),
    (
        "curl-user",
        "flag",
        "curl |wget |http |https |xh ",
        0,
        0,
        r"""\b(?:curl|wget|http|https|xh)\b(?:[ \t]{1,4}(?!-u\b|--user\b|--proxy-user\b|-U\b|-a\b)\S{1,300}){0,20}?[ \t]{1,4}(?:-u|--user|--proxy-user|-U|-a|--auth)[ =]?[ \t]{0,4}[\"']?[^\s:\"'@/]{1,128}:(?P<s>[^\s\"'`]{3,200})""",
    ),
    (
        "cli-password",
        "flag",
        "sshpass",
        0,
        0,
        r"""\bsshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?(?P<s>[^\s\"'`]{3,128})""",
    ),
    (
        "cli-password",
        "flag",
        "redis-cli",
        0,
        0,
        r"""\bredis-cli\b(?:[ \t]{1,4}(?!-a\b)\S{1,120}){0,8}?[ \t]{1,4}-a[ \t]{1,4}[\"']?(?P<s>[^\s\"'`]{4,128})""",
    ),
    (
        "cli-password",
        "flag",
        "docker |podman |helm |mongo|ldap|az |oc |nerdctl ",
        0,
        0,
        r"""\b(?:docker|podman|nerdctl|helm registry|mongo|mongosh|mongodump|mongorestore|az|oc|ldapsearch|ldapadd|ldapmodify)\b(?:[ \t]{1,4}(?!-[pw]\b)\S{1,120}){0,12}?[ \t]{1,4}-[pw][ \t]{1,4}[\"']?(?P<s>[^\s\"'`]{6,200})""",
    ),
    (
        "cli-password",
        "text",
        "storepass|keypass",
        8,
        140,
        r"""-(?:storepass|keypass|srcstorepass|deststorepass)[ \t]{1,4}[\"']?(?P<s>[^\s\"'`$]{4,128})""",
    ),
    (
        "cli-password",
        "text",
        "smbclient|rpcclient|cifs",
        0,
        300,
        r"""(?:-U[ \t]{0,4}|user=)[\"']?[^\s%\"']{1,80}%(?P<s>[^\s\"'`]{3,128})""",
    ),
    (
        "cli-password",
        "flag",
        "7z |7za |zip |rar ",
        0,
        0,
        r"""\b(?:7za?|rar|unrar|zip|unzip)\b(?:[ \t]{1,4}(?!-[pP])\S{1,120}){0,8}?[ \t]{1,4}-(?:p|P[ \t]{1,4})(?P<s>[^\s\"'`]{6,128})""",
    ),
    (
        "putty-key",
        "text",
        "private-lines:",
        0,
        0,
        r"""Private-Lines: \d{1,3}\r?\n(?P<s>(?:[A-Za-z0-9+/=]{4,76}\r?\n){1,200})""",
    ),
    (
        "authorization-header",
        "text",
        "authorization",
        0,
        0,
        r"""(?i:authorization)(?:\\?[\"'])?[ \t]{0,4}(?:[:=,]|=>)[ \t]{0,4}(?:\\?[\"'`])?(?i:bearer|basic|token|apikey|api-key|digest|ssws|negotiate|bot|key)[ \t]{1,4}(?P<s>[A-Za-z0-9_~+/.=:-]{8,4096})""",
    ),
    (
        "bearer-token",
        "text",
        "bearer",
        0,
        0,
        r"""(?<![A-Za-z])[Bb]earer[ \t]{1,4}(?P<s>[A-Za-z0-9_~+/.=-]{20,4096})""",
    ),
    (
        "netrc-password",
        "text",
        "machine|login",
        0,
        0,
        r"""\b(?:machine|login)[ \t]{1,8}\S{1,200}[ \t\r\n]{1,80}(?:login[ \t]{1,8}\S{1,200}[ \t\r\n]{1,80})?password[ \t]{1,8}(?P<s>\S{4,200})""",
    ),
    (
        "pgpass-password",
        "text",
        ":5432:|:*:",
        200,
        400,
        r"""(?m:^)[A-Za-z0-9_.*-]{1,200}:(?:\d{2,5}|\*):[A-Za-z0-9_*-]{1,64}:[A-Za-z0-9_*-]{1,64}:(?P<s>[^\s:]{4,128})[ \t]{0,8}(?=\r?\n|\Z)""",
    ),
    (
        "cli-password",
        "text",
        "pass:",
        16,
        140,
        r"""\b-?pass(?:in|out|wd)?[ \t]{1,4}[\"']?pass:(?P<s>[^\s\"'`]{3,128})""",
    ),
    (
        "cli-password",
        "text",
        "chpasswd",
        200,
        10,
        r"""\becho[ \t]{1,4}[\"']?[a-z_][a-z0-9_-]{0,31}:(?P<s>[^\s\"'`|]{4,128})[\"']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?chpasswd""",
    ),
    (
        "sql-password",
        "text",
        "identified by",
        0,
        0,
        r"""(?i:identified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,40}[ \t]{1,4})?by)[ \t]{1,4}(?:(?i:password)[ \t]{1,4})?[\"'](?P<s>[^\"'\n]{4,128})[\"']""",
    ),
    ("sql-password", "text", "password '", 0, 0, r"""(?i:password)[ \t]{1,4}'(?P<s>[^'\n]{6,128})'"""),
    (
        "docker-auth",
        "text",
        '"auth"',
        0,
        0,
        r"""\"auth\"[ \t]{0,4}:[ \t]{0,4}\"(?P<s>[A-Za-z0-9+/]{12,400}={0,2})\"""",
    ),
)

# ── names of things that hold secrets ────────────────────────────────────────

# The literals by which a name is noticed; what the whole name means is judged afterwards.
NAME_LITERALS: Final = ("pass", "pwd", "secret", "token", "key", "credential", "auth")

# Last words that name a secret by themselves.
STRONG_WORDS: Final = frozenset(
    """password passwd passphrase passwort contrasena motdepasse pass pwd pw secret secrets token tokens apikey
    apitoken authtoken accesstoken refreshtoken secretkey privatekey accesskey clientsecret credential
    credentials creds bearer jwt sessionid pat pgpassword mysqlpwd dbpass dbpassword userpass authkey
    sharedkey masterkey encryptionkey signingkey appsecret passcode pepper sshpass rootpassword""".split()
)
PASSWORD_WORDS: Final = frozenset(
    """password passwd passphrase passwort contrasena motdepasse pass pwd pw pgpassword mysqlpwd dbpass
    dbpassword userpass passcode sshpass rootpassword requirepass masterauth rootpass adminpass mailpass smtppass
    ftppass mypass""".split()
)
# `…_key` and `…_auth` are secrets after these words, and never after those.
KEY_QUALIFIERS: Final = frozenset(
    """api access secret private auth encryption encrypt decryption signing sign signature master account shared
    service app application subscription session client storage hmac aes crypto cipher admin root license
    webhook integration rest write ingest deploy deployment server user team org project consumer jwt cookie
    stripe openai anthropic cohere mistral datadog dd newrelic sendgrid mailgun twilio algolia fastly
    cloudflare cf pagerduty segment mixpanel amplitude airtable notion linear figma github gitlab bitbucket
    heroku azure aws gcp google firebase maps youtube huggingface hf groq replicate deepl weather pusher
    sentry snyk shodan virustotal okta auth0 supabase elastic bugsnag rollbar honeycomb logdna splunk
    wandb pinecone voyage jina together fireworks deepseek gemini openrouter perplexity elevenlabs
    postmark resend brevo intercom zendesk freshdesk hubspot salesforce shopify square paypal braintree
    plaid coinbase binance kraken alpaca polygon finnhub x""".split()
)
NOT_SECRET_QUALIFIERS: Final = frozenset(
    """public primary foreign sort partition cache lookup index unique composite natural surrogate map dict hash
    object row column field group route routing query i18n translation locale message msg label react list
    item node tree config configuration setting feature flag registry env storage_key event menu hot short
    shortcut arrow enter escape tab next page continuation sync cancel cancellation max min num total count
    prompt completion input output eos bos pad unk sep mask cls start end stop special unknown lexer parser
    previous prev last first csrf xsrf antiforgery syntax string number comment keyword punctuation operator
    skip boarding fast bypass by com compile test_pass single double multi two one render second sub press
    down up on is has no not require requires required show hide reset forgot confirm change update new_old
    idempotency dedupe dedup tracking trace span design cursor ssh_public gpg pgp known host""".split()
)
# What may follow the naming word without changing what is named.
HARMLESS_SUFFIXES: Final = frozenset(
    """value val text plain plaintext str string base b64 base64 encoded raw prod production live staging stage
    dev development test qa uat old new current default primary secondary backup main one two a b c v1 v2 v3
    1 2 3 env var data literal""".split()
)

# ── values that only stand for a secret ──────────────────────────────────────

PLACEHOLDER_PARTS: Final = (
    "example", "sample", "placeholder", "changeme", "change_me", "change-me", "changeit", "replace", "insert",
    "your", "dummy", "redacted", "masked", "hidden", "todo", "fixme", "xxxx", "****", "....", "____", "----",
    "not-a-real", "notreal", "not_real", "fake", "mock", "foobar", "foo-bar", "lorem", "undefined", "n/a",
    "secret-here", "key-here", "token-here", "goes-here", "goes_here", "goeshere", "_here", "-here", "…",
    "${", "{{", "$(", "%(", "#{", "<%", "{}", "{0}", "●", "•", "1234567890", "0123456789", "abcdefgh",
    "deadbeef", "removed", "omitted", "sanitized", "obfuscated", "put_", "put-", "enter_", "enter-", "fill",
)  # fmt: skip
# Parts that no issued token has: samples in documentation.
MADE_UP: Final = (
    "xxxx", "example", "your", "placeholder", "redacted", "....", "1234567890", "0123456789", "abcdefghij",
)  # fmt: skip
# Words people write where a password would go. Low entropy, no secret lost: documented as not redacted.
COMMON_WORDS: Final = frozenset(
    """password passwd pass pwd secret secrets token key test testing tester admin administrator root user
    username guest demo foo bar baz qux qwerty letmein welcome hello world default none null nil true false
    string str int bool boolean number object any void required optional changeme postgres mysql mariadb
    mongo mongodb redis rabbitmq rabbit elastic elasticsearch localhost development production staging
    local public private abc value data text type name field input hunter temp temporary dev prod master
    login auth basic bearer apikey api client server service app my mysecret mypassword mytoken mykey
    supersecret verysecret topsecret shh ssh dragon monkey sunshine iloveyou princess football""".split()
)

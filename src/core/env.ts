/** Environment variables that svc reads, and what each means. `svc help environment` and the docs print this. */
export const environment = {
  SVC_PROFILE: 'profile to use',
  SVC_BASE_URL: 'address of the REST API, ending in /admin/public/api',
  SVC_MCP_URL: 'address of the approval tool server, ending in /mcp',
  SVC_API_KEY: 'key for the REST API (secret)',
  SVC_ASK_KEY: 'key for approvals only, instead of SVC_API_KEY (secret)',
  MCP_AUTH_TOKEN: 'bearer for the approval tool server (secret)',
  SVC_DEFAULT_MOBILE: 'default approver (E.164); also for svc serve',
  SVC_DEFAULT_FACTORS: 'default factors: biometric,location,time,device; also for svc serve',
  SVC_REQUEST_FROM: 'name of the requesting application; also for svc serve',
  SVC_ORG: 'default for --org (id or slug)',
  TRACEPARENT: 'trace that the requests belong to (W3C), for the log of the service',
  SVC_CONFIG_DIR: 'folder of the profile file',
  SVC_BOOTSTRAP_API_KEY: 'svc serve: the first operator key, instead of a random one (secret)',
  SVC_DATABASE_URL: 'svc serve: store in PostgreSQL, postgres://host/database (may contain a secret)',
  SVC_MASTER_KEY: 'svc serve: the key that wraps stored secrets, instead of a file (secret)',
  SVC_METRICS_KEY: 'svc serve: bearer that --metrics-port requires, 32 characters or more (secret)',
  SVC_SMTP_URL:
    'svc serve: mail server, smtps://user@host:465 or smtp://user@host:587 (may contain a secret)',
  SVC_SMTP_PASSWORD: 'svc serve: password of the user at the mail server (secret)',
  SVC_SMTP_FROM: 'svc serve: sender of e-mail, Acme <no-reply@example.com>',
  SVC_SMS_URL: 'svc serve: address for sending text messages (may contain a secret)',
  SVC_SMS_SECRET: 'svc serve: credential for the SMS provider, a bearer unless configured otherwise (secret)',
  SVC_SUPPORT_EMAIL: 'svc serve: recipient of /contact/support',
} as const

export type EnvName = keyof typeof environment
export type Env = Readonly<Record<string, string | undefined>>

/** The variables of svc that are or contain a secret, as `environment` says. */
export const secretNames = Object.entries(environment).flatMap(([name, about]) =>
  /\((?:may contain a )?secret\)$/.test(about) ? [name] : [],
)

/** An environment for a program that svc starts and that needs no secret of svc. */
export const withoutSecrets = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !secretNames.includes(name.toUpperCase())))

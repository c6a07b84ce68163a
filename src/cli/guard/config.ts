import * as z from 'zod/mini'
import { mostPeople } from '../../contract/approvers.ts'
import { factors } from '../../contract/records.ts'
import { usageError } from '../../core/errors.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import { dialingPrefix } from '../../core/phone-parts.ts'
import { checkBaseUrl } from '../../client/address.ts'
import { parseYaml, type FileKind } from '../declare/yaml.ts'

// No flag and no variable names another file: whoever could pass one would choose the approvers.
export const configPath = '/etc/svc/guard.yaml'

export const exampleConfig = `service: https://svc.example.com/admin/public/api
organization: acme
jwks: /etc/svc/guard-keys.json   # /.well-known/jwks.json of the service
key_file: /etc/svc/guard.key     # a key that can only ask, mode 600
people:
  - mobile: +12025550101
    accounts: [alice]            # not asked about what alice does
  - mobile: +12025550102
need: 1                          # how many of them must approve
timeout: 120                     # seconds for the decision
exec: {files: refuse}            # refuse or copy files that others can change
ssh: {held: [shell, command]}    # shell, command, sftp; the rest is refused
git: {refs: [refs/heads/main]}   # other refs need no approval`

const text = (example: string) =>
  z.string().check(z.minLength(1, `must not be empty; example: ${example}`), z.maxLength(2000))

const some = <T extends z.ZodMiniType>(one: T, least = 'must name at least one') =>
  z.array(one).check(z.minLength(1, least))
const formed = (form: RegExp, message: string) => z.string().check(z.regex(form, message))

const passkey = formed(/^[\w-]{40,2000}$/, 'must be a public key as base64url, as receipts contain it')
const person = z.strictObject({
  mobile: z
    .string()
    .check(
      z.refine(
        (mobile) => /^\+\d{7,15}$/.test(mobile) && dialingPrefix(mobile) !== undefined,
        'must be a phone number in E.164, such as +12025550101',
      ),
    ),
  accounts: z.optional(z.array(text('alice'))),
  passkeys: z.optional(some(passkey, 'must name at least one key')),
})

const kinds = ['shell', 'command', 'sftp'] as const
export type SshKind = (typeof kinds)[number]

const ref = formed(
  /^refs\/(?:[^*\s]*[^*\s/]|(?:[^*\s]*\/)?\*)$/,
  'must be a ref such as refs/heads/main, or end in /* as refs/tags/*',
)

const shape = z.strictObject({
  service: text('https://svc.example.com/admin/public/api'),
  organization: z.pipe(z.union([z.string(), z.number()]), z.transform(String)),
  issuer: z.optional(text('https://svc.example.com')),
  jwks: text('/etc/svc/guard-keys.json'),
  key_file: text('/etc/svc/guard.key'),
  cacert: z.optional(text('/etc/svc/ca.pem')),
  host: z.optional(text('web1.example.com')),
  people: some(person, 'must name at least one person').check(
    z.maxLength(mostPeople, `must name at most ${mostPeople} people`),
  ),
  need: z.optional(z.int().check(z.gte(1, 'must be 1 or more'))),
  timeout: z.optional(
    z.int().check(z.gte(10, 'must be 10 or more seconds'), z.lte(3600, 'must be 3600 or less')),
  ),
  factors: z.optional(z.array(z.enum(factors))),
  allow_dev: z.optional(z.boolean()),
  exec: z.optional(z.strictObject({ files: z.optional(z.enum(['refuse', 'copy'])) })),
  ssh: z.optional(z.strictObject({ held: some(z.enum(kinds)) })),
  git: z.optional(z.strictObject({ refs: some(ref) })),
})

export type GuardConfig = z.infer<typeof shape> & {
  issuer: string
  need: number
  timeout: number
}

const kind: FileKind = {
  single: 'a file describes one guard',
  nothing: 'nothing was allowed',
  schema: 'svc guard check --help',
  example: 'svc guard check --help',
}

/** Reads the text of a configuration. Throws one usage error with all problems and their lines. */
export const parseConfig = (content: string, file: string): GuardConfig => {
  const config = parseYaml(content, file, kind).check(shape)
  const service = checkBaseUrl(config.service, `service in ${file}`)
  const { origin, protocol, hostname } = new URL(service)
  if (protocol === 'http:' && !isLoopbackHost(hostname))
    throw usageError(`service in ${file} must use https`, `service: https://${hostname}/admin/public/api`)
  if (config.allow_dev && !isLoopbackHost(hostname))
    throw usageError(
      `allow_dev in ${file} works only with a service on this machine`,
      'Remove allow_dev: receipts of software keys do not prove that a person approved',
    )
  const { need = 1 } = config
  const numbers = config.people.map(({ mobile }) => mobile)
  const twice = numbers.find((mobile, at) => numbers.indexOf(mobile) !== at)
  if (twice !== undefined)
    throw usageError(
      `people in ${file} must name each person once, not ${twice} twice`,
      'Name all accounts in one entry: accounts: [alice, root]',
    )
  if (need > config.people.length)
    throw usageError(
      `need in ${file} must be at most the number of people, ${config.people.length}, not ${need}`,
      'Name more people, or lower need',
    )
  return { ...config, service, issuer: config.issuer ?? origin, need, timeout: config.timeout ?? 120 }
}

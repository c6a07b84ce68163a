import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { environment } from '../../core/env.ts'
import { exits } from '../../core/exit-codes.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import type { Register } from './program.ts'

/** The commented configuration of `svc serve`: beside the built program, or in the documentation of the source tree. */
export const sampleConfig = (): string => {
  const here = dirname(fileURLToPath(import.meta.url))
  const file = [join(here, 'svc.sample.yaml'), join(here, '../../../docs/svc.sample.yaml')].find((one) =>
    existsSync(one),
  )
  if (file === undefined)
    throw new SvcError('failed', 'no_sample', 'The sample configuration is missing from this installation', {
      hint: 'Install svc again',
    })
  return readFileSync(file, 'utf8').trimEnd()
}

export type Topic = { about: string; text(): string }

type Row = [name: string | number, about: string]

const rows = (pairs: Row[]): string => {
  const width = Math.max(...pairs.map(([name]) => String(name).length))
  return pairs.map(([name, text]) => `  ${String(name).padEnd(width)}  ${text}`).join('\n')
}

/** What `svc help TOPIC` explains. */
export const topics: Record<string, Topic> = {
  'exit-codes': {
    about: 'what svc exits with',
    text: () => `What svc exits with:

${rows(Object.values(exits).map(([code, text]): Row => [code, text]))}

svc approve run exits as its command does; what svc itself says is 100 and the code: 106 denied.
svc approve verify exits 0 for a valid receipt and 1 for any other.
Several waits at once exit with the worst of 6, 7 and 8.`,
  },
  environment: {
    about: 'environment variables',
    text: () => `Environment variables. A flag wins over them, they win over the profile:

${rows(Object.entries(environment))}

Also read: HTTPS_PROXY, HTTP_PROXY, NO_PROXY, NO_COLOR, FORCE_COLOR.`,
  },
  configuration: {
    about: 'a commented configuration file for svc serve --config',
    text: sampleConfig,
  },
  formatting: {
    about: 'how answers are shown, picked and filtered',
    text: () => `How answers are shown:

${rows([
  ['-o table', 'a table; what a terminal gets'],
  ['-o tsv', 'values between tabs, no header; what a pipe gets'],
  ['-o csv', 'with a header'],
  ['-o json', "the answer's data as JSON"],
  ['-o ndjson', 'one JSON document a row'],
  ['-o yaml', "the answer's data as YAML"],
  ['-o id', 'ids alone, one a line'],
  ['--json a,b.c', 'only these fields, as JSON'],
  ['--json', 'list the fields that can be picked'],
  ['--jq EXPR', 'the JSON through jq'],
  ['--envelope', 'status and message too'],
  ['--reveal', 'phones, e-mails and credentials whole, also on a terminal'],
])}

Machine formats put the data alone on standard output; all else goes to standard error. Phones, e-mails and
credentials are masked in tables on a terminal, and whole everywhere else. Lists on a terminal say how long ago a
time was.

All of this is checked before anything is sent. Exit 11 means that a change was made and its answer could not be
shown as asked: the whole answer is on standard output.

  svc user list --org acme -o csv > users.csv
  svc org list --jq '.[].slug'
  for id in $(svc geofence list --org acme -o id); do svc geofence get "$id" --org acme; done`,
  },
  profiles: {
    about: 'addresses and keys by name, and which of them counts',
    text: () => `A profile is an address, a key and what else you would type each time. The first that says something counts:

${rows([
  ['flag', '--profile, --base-url, --key-file, --org'],
  ['environment', 'SVC_PROFILE, SVC_BASE_URL, SVC_API_KEY, SVC_ORG: svc help environment'],
  ['.svcrc', 'in this folder or one above it: names a profile, never a secret'],
  ['profile', 'what svc profile create, set and login saved'],
  ['default', 'the service on this machine, port 8080'],
])}

  svc profile login prod --base-url https://svc.example.com/admin/public/api
  svc profile use prod
  svc profile show --explain

A key goes to the scheme, host and port that it was saved for and to no other, and never over plain http except to
this machine. It comes from a prompt, from standard input (--with-key), a file, the environment or a command:

  svc profile set prod credential_command='pass svc/prod'

In a protected profile you must type the name of whatever you delete. With require_approval, svc asks a person before
a dangerous command.`,
  },
  receipts: {
    about: 'the proof of a decision, and how it is checked',
    text: () => `A decision leaves a receipt: a signed statement of who decided what, that anyone can check offline.

  svc approve request "drop table users" --receipt receipt.json
  svc approve status apr_3mYk8wQZ --jq .attestation > receipt.json
  svc approve verify receipt.json --org acme --jwks keys.json --action "drop table users"

It holds exactly what the human approved, the organization and the key that asked, and two signatures. The service's
says who was asked, when, and what the rules found; its keys are at /.well-known/jwks.json. The phone's own signs a
challenge made from what was approved, so that the service alone cannot make one up: the verifier recomputes it.

${rows([
  ['--org', 'the organization that it must be of; required'],
  ['--action', 'the action that must have been approved, to the letter'],
  ['--subject, --digest', 'what exactly must have been approved, as data or its SHA-256'],
  ['--approver', 'whose phone it must have been'],
  ['--max-age', 'how old it may be; a receipt does not lapse by itself'],
  ['--status', 'denied, where it is a denial that is to be proved'],
  ['--jwks', 'keys in a file; without it they are fetched'],
  ['--separation', 'strict: the creator of the requesting key must not have enrolled the device'],
  ['--allow-dev', 'required for a receipt of a software key'],
])}

A receipt proves a decision, and not that it is still unused: svc approve consume uses an approval, once.
What is attested is that the device verified its user by face, fingerprint or PIN, never which of them. That the
phone's key belongs to the person is the service's word, unless you pinned the key.`,
  },
}

const list = (): string => {
  const width = Math.max(...Object.keys(topics).map((name) => name.length))
  const lines = Object.entries(topics).map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}`)
  return `Topics:\n${lines.join('\n')}\n\nsvc help TOPIC explains a topic, svc COMMAND --help a command. svc --help lists all commands.`
}

/** `svc help`, `svc help TOPIC`, and `svc help COMMAND…` as `svc COMMAND… --help`. */
export const registerHelp: Register = (command, context, program) => {
  command
    .usage('[topic | command]')
    .argument('[words...]')
    .addHelpText('after', '\nExample:\n  svc help exit-codes')
    .action(async (words: string[]) => {
      const [first = ''] = words
      if (words.length === 0) return context.io.stdout.write(`${list()}\n`)
      if (words.length === 1 && Object.hasOwn(topics, first))
        return context.io.stdout.write(`${topics[first]!.text()}\n`)
      const groups = command.parent!.commands.map((one) => one.name())
      if (groups.includes(first)) {
        const tree = await program.tree(words)
        await tree.parseAsync([...words, '--help'], { from: 'user' })
        return undefined
      }
      const meant = nearest(first, [...Object.keys(topics), ...groups])
      throw usageError(
        `There is no help topic "${words.join(' ')}"`,
        meant ? `svc help ${meant}` : `svc help ${Object.keys(topics).join('|')}`,
      )
    })
}

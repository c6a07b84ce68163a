import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { influenceOf } from '../../asking/separation.ts'
import { isRecord } from '../../core/is-record.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { getJson } from '../context/open-client.ts'
import { readOwnKey } from '../context/own-key.ts'
import { fail, failed, type Finding, ok, warn } from '../doctor/finding.ts'
import { readBytes, textOf } from '../terminal/input-file.ts'
import { closedContext } from './closed-context.ts'
import { configPath, type GuardConfig, parseConfig } from './config.ts'
import { fixedPath } from './guarded-environment.ts'
import { changeableBy, readRootFile } from './root-file.ts'
import { harmfulNames, readKeySet } from './trust.ts'

/** What to paste, and where. */
export type Lines = { file: string; lines: string[] }

const linesIf = (section: object | undefined, file: string, lines: string[]): Lines[] =>
  section ? [{ file, lines }] : []

/** The lines that start each guard of the configuration, with a clean environment and without a flag of the caller. */
const linesFor = (config: Pick<GuardConfig, 'exec' | 'ssh' | 'git'>, launcher: string): Lines[] => [
  ...linesIf(config.exec, '/etc/sudoers.d/svc-guard (with visudo -f)', [
    `Cmnd_Alias SVC_GUARD = ${launcher} exec -- *`,
    'Defaults!SVC_GUARD env_reset, !setenv',
    '%ops ALL = (root) NOPASSWD: SVC_GUARD',
  ]),
  ...linesIf(
    config.ssh,
    '/etc/ssh/authorized_keys/ACCOUNT (root-owned; AuthorizedKeysFile /etc/ssh/authorized_keys/%u)',
    [`restrict,pty,command="${launcher} ssh --as alice" ssh-ed25519 AAAA… alice`],
  ),
  ...linesIf(config.git, 'hooks/pre-receive of the repository (root-owned, mode 755)', [
    '#!/bin/sh',
    `exec ${launcher} git`,
  ]),
]

const tried = async (check: string, message: string, run: () => unknown): Promise<Finding> => {
  try {
    await run()
    return ok(check, message)
  } catch (error) {
    return failed(check, error)
  }
}

const program = (launcher: string): Finding => {
  const folders = fixedPath.split(':').filter((folder) => existsSync(folder))
  const problem = [process.execPath, launcher, join(dirname(launcher), '..', 'dist'), ...folders]
    .map((path) => changeableBy(path))
    .find((found) => found !== undefined)
  if (!problem)
    return ok('program', `Only root can change svc, ${process.execPath} and the folders of programs`)
  return fail(
    'program',
    `Others than root can change what a guard runs: ${problem.message}`,
    `Install svc as root (npm install --global), or as root: ${problem.fix}`,
  )
}

const environment = ({ io }: Context): Finding => {
  const names = harmfulNames(io.env)
  if (names.length === 0) return ok('environment', 'No variable loads code or changes trust')
  return warn(
    'environment',
    `A guard refuses to start with ${names.join(', ')} in its environment, as here`,
    'Start the guards with the lines below, which clean the environment',
  )
}

const development = warn(
  'allow_dev',
  'Receipts of software keys are accepted, which do not prove that a person approved',
  'Remove allow_dev, unless this is a test',
)

const draft = (file: string): Finding =>
  warn(
    'safe',
    `${file} is a draft; guards use ${configPath}`,
    `sudo install -D -o root -g root -m 644 ${shellQuote(file)} ${configPath}`,
  )

const keyIds = (keys: unknown): string[] =>
  isRecord(keys) && Array.isArray(keys.keys)
    ? keys.keys.flatMap((key: unknown) => (isRecord(key) && typeof key.x === 'string' ? [key.x] : []))
    : []

/** Compares the pinned keys with those that the service publishes. */
const publishedKeys = async (config: GuardConfig, context: Context): Promise<Finding> => {
  const url = `${new URL(config.service).origin}/.well-known/jwks.json`
  const published = keyIds(await getJson(context, url, config.cacert))
  const pinned = new Set(keyIds(readKeySet(config.jwks)))
  const added = published.filter((key) => !pinned.has(key)).length
  if (added === 0) return ok('signing keys', `Every key that the service publishes is in ${config.jwks}`)
  return warn(
    'signing keys',
    `The service publishes ${added === 1 ? 'a key that is' : `${added} keys that are`} not in ${config.jwks}; receipts that they sign are refused`,
    `Compare ${url} with what the operator of the service says, then save it in ${config.jwks}`,
  )
}

const requestingKey = async (context: Context): Promise<Finding> => {
  const own = await readOwnKey(await context.client(), context.io.signal)
  const scopes: readonly string[] = own?.scopes ?? []
  const wrong = influenceOf(scopes)
  if (wrong.length === 0 && scopes.includes('ask'))
    return ok('ask key', `The service accepts it (${scopes.join(', ')})`)
  return fail(
    'ask key',
    wrong.length > 0
      ? `It can influence who approves (${wrong.join(', ')})`
      : `It cannot request approvals (${scopes.join(', ') || 'no scopes reported'})`,
    'svc key create --name guard --can ask, and save that key',
  )
}

const asked = async (config: GuardConfig, { io }: Context): Promise<Finding[]> => {
  const context = closedContext(config, io)
  const checks = { 'ask key': requestingKey, 'signing keys': () => publishedKeys(config, context) }
  try {
    return await Promise.all(
      Object.entries(checks).map(([name, check]) =>
        check(context).catch((error: unknown) => failed(name, error)),
      ),
    )
  } finally {
    await context.close()
  }
}

/** How to get a file that does not exist yet. */
const withNext = (finding: Finding, path: string, next: string): Finding =>
  finding.state === 'fail' && !existsSync(path) ? { ...finding, next } : finding

const files = async (config: GuardConfig): Promise<Finding[]> => {
  const { jwks, key_file, service, organization, cacert } = config
  const keySet = await tried('key set', `${jwks} has the keys of the service`, () => readKeySet(jwks))
  const keyFile = await tried('key file', `Only root, or one group, can read ${key_file}`, () =>
    readRootFile(key_file, { what: 'ask key', isSecret: true }),
  )
  const published = shellQuote(`${new URL(service).origin}/.well-known/jwks.json`)
  const key = `svc key create --name guard --org ${shellQuote(organization)} --can ask --jq .key`
  const found = [
    withNext(
      keySet,
      jwks,
      `curl -s ${published} | sudo tee ${shellQuote(jwks)}, then compare it with the operator`,
    ),
    withNext(keyFile, key_file, `${key} | sudo install -m 600 /dev/stdin ${shellQuote(key_file)}`),
  ]
  const isSafe = `Only root can change ${cacert}`
  if (cacert !== undefined) found.push(await tried('CA', isSafe, () => readRootFile(cacert, { what: 'CA' })))
  return found
}

/** Checks an installed configuration, or one in `file` before it is installed. */
export const examineGuard = async (
  file: string | undefined,
  { offline }: { offline: boolean },
  context: Context,
): Promise<{ findings: Finding[]; lines: Lines[] }> => {
  const { io } = context
  const launcher = join(dirname(realpathSync(process.argv[1] ?? '.')), 'guard.sh')
  const path = file === undefined ? configPath : resolve(io.cwd, file)
  if (file !== undefined && !existsSync(path))
    return { findings: [fail('content', `${file} does not exist`)], lines: [] }
  let text: string | undefined
  const safe =
    file === undefined
      ? await tried('safe', `Only root can change ${path}`, () => {
          text = readRootFile(path, { what: 'configuration' })
        })
      : draft(file)
  if (safe.state === 'fail') return { findings: [safe], lines: [] }
  let config: GuardConfig | undefined
  const content = await tried('content', 'Every setting is valid', () => {
    text ??= textOf(readBytes(path, io, { mostMiB: 1 }), path)
    config = parseConfig(text, file ?? path)
  })
  const findings = [safe, content]
  if (config === undefined) return { findings, lines: [] }
  const ofFiles = await files(config)
  findings.push(...ofFiles, program(launcher), environment(context))
  if (config.allow_dev) findings.push(development)
  const readable = ofFiles.every(({ state }) => state === 'ok')
  if (!offline && readable) findings.push(...(await asked(config, context)))
  return { findings, lines: linesFor(config, launcher) }
}

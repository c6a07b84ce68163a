import type { Rule } from '../../src/contract/rule-shape.ts'
import { below } from './approvers.ts'

// Rules, and requests that do what each of them holds, in other words. Written without the matching of the service, so that
// both are unlikely to have the same mistake.

type Match = Rule['match']
type Subject = { type: Match['type']; data: object }

/** What a rule holds, and requests that it must hold: each does the same in another way. */
export type Spelling = { match: Match; subject: Subject; except?: boolean }

const pick = <T>(of: readonly T[]): T => of[below(of.length)]!

const sha256 = 'a'.repeat(64)

const command = (argv: string[], { cwd = '/srv/prod', path = `/usr/bin/${argv[0]}` } = {}): Subject => ({
  type: 'command',
  data: {
    argv,
    cwd,
    executable: { path, sha256 },
    files: [],
    environment: { passed: [], set: {} },
  },
})

const terraform: Match = { type: 'command', argv: ['terraform', '**', 'destroy', '**'] }
const inProd: Match = { ...terraform, cwd: ['/srv/prod/**'] }
const call = (tool: string, given: object, server = 'github'): Subject => ({
  type: 'tool_call',
  data: { server, tool, arguments: given },
})
const merge: Match = {
  type: 'tool_call',
  server: ['github'],
  tool: ['merge_*'],
  arguments: { branch: ['main', 'release-*'] },
}

const upper = (text: string): string =>
  [...text].map((letter) => (below(2) === 0 ? letter.toUpperCase() : letter)).join('')

const shells = ['sh', 'bash', 'bash5.2', 'zsh', 'busybox', 'dash']
const wrappers = [
  'env',
  'sudo',
  'nohup',
  'timeout',
  'nice',
  'xargs',
  'doas',
  'setsid',
  'systemd-run',
  'toybox',
]

/** Each makes one at random. */
export const spellings: Record<string, () => Spelling> = {
  'as it is': () => ({ match: inProd, subject: command(['terraform', 'destroy']) }),
  'options before the word': () => ({
    match: inProd,
    subject: command([
      'terraform',
      ...pick([['-chdir=x'], ['-no-color', '-chdir=x'], ['']]),
      'destroy',
      '-auto-approve',
    ]),
  }),
  'path of the program': () => ({
    match: terraform,
    subject: command([
      pick(['/usr/bin/terraform', './terraform', '../bin/terraform', '//opt/terraform']),
      'destroy',
    ]),
  }),
  'link to the program': () => ({
    match: terraform,
    subject: command([pick(['tf', '/tmp/x', './ls']), 'destroy'], { path: '/usr/local/bin/terraform' }),
  }),
  'other case': () => ({
    match: terraform,
    subject: command([upper('terraform'), 'destroy']),
  }),
  'dots in the folder': () => ({
    match: inProd,
    subject: command(['terraform', 'destroy'], {
      cwd: pick(['/srv/dev/../prod/a', '/srv/./prod', '/srv//prod/a', '/srv/prod/a/', '/../srv/prod/b/../c']),
    }),
  }),
  'dots out of an exception': () => ({
    except: true,
    match: inProd,
    subject: command(['terraform', 'destroy'], { cwd: '/srv/prod/sandbox/../live' }),
  }),
  'a shell in the folder of an exception': () => ({
    except: true,
    match: inProd,
    subject: command([pick(shells), '-c', 'cd ../live && terraform destroy'], { cwd: '/srv/prod/sandbox' }),
  }),
  'a shell': () => ({
    match: inProd,
    subject: command([pick(shells), '-c', 'terraform destroy'], { cwd: '/' }),
  }),
  'a link to a shell': () => ({
    match: inProd,
    // A file with many programs runs the one that is typed, and none has this name.
    subject: command(['harmless', '-c', 'terraform destroy'], {
      path: `/bin/${pick(shells.filter((one) => !['busybox', 'toybox'].includes(one)))}`,
    }),
  }),
  'a wrapper': () => ({
    match: inProd,
    subject: command([pick(wrappers), 'terraform', 'destroy'], { cwd: '/home/ada' }),
  }),
  'an argument that is missing': () => ({
    match: merge,
    subject: call('merge_pull_request', pick([{}, { Branch: 'dev' }, { branch2: 'dev' }])),
  }),
  'an argument that is no text': () => ({
    match: merge,
    subject: call('merge_pull_request', { branch: pick([null, 1, ['main'], { name: 'main' }, true]) }),
  }),
  'a tool in other case': () => ({
    match: merge,
    subject: call(upper('merge_pull_request'), { branch: 'main' }, upper('github')),
  }),
  'a file': () => ({
    match: { type: 'file', file: ['*.tfplan'] },
    subject: {
      type: 'file',
      data: { name: pick(['prod.tfplan', '.tfplan', 'PROD.TFPLAN', 'a b.tfplan']), size: 1, sha256 },
    },
  }),
  'an operation by its id': () => ({
    match: { type: 'request', operation: ['user'] },
    subject: {
      type: 'request',
      data: { organization: null, operation: pick(['deleteUser', 'user delete', ' user  delete']), body: {} },
    },
  }),
  'a text': () => ({
    match: { type: 'text', text: ['*production*'] },
    subject: {
      type: 'text',
      data: { text: pick(['Deploy to production', 'Deploy to PRODUCTION', 'production']) },
    },
  }),
}

/** The exception of the rules that have one. */
export const exception = [{ cwd: ['/srv/prod/sandbox/**'] }]

/** Rules that hold something else, so that the one that counts is anywhere among them. */
export const otherRules = (): Match[] =>
  Array.from({ length: below(6) }, () =>
    pick<Match>([
      { type: 'command', argv: ['kubectl', '**'] },
      { type: 'tool_call', server: ['other'] },
      { type: 'text', text: ['nothing'] },
      { type: 'file', file: ['*.exe'] },
      { type: 'request', operation: ['webhook'] },
    ]),
  )

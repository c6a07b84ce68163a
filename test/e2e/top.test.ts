import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPerson, remote, type Person } from './person.ts'
import { bin, svc } from './processes.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'
import { screenOf } from './screen.ts'
import { openTerminal, type Size } from './terminal.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const operator = 'svc_op_watching0_0123456789012345678901234567890'
const folder = temporaryFolder()
let service: ServiceHere
let person: Person
let env: Record<string, string>

beforeAll(async () => {
  service = await startServiceHere(folder.path, operator, { dev: true })
  env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: operator, SVC_CONFIG_DIR: folder.path }
  person = await createPerson(remote(service.baseUrl, operator), 1)
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

const ask = (action: string) =>
  remote(service.baseUrl, operator).call('POST', '/svc/v1/approvals', {
    body: { action, approvers: [person.mobile] },
  })

const start = (more: Record<string, string> = {}, size: Size = { rows: 24, columns: 80 }) => {
  // The shell prints its state afterwards: `echo` and `icanon` are on again when the terminal was given back.
  const command = `'${process.execPath}' '${bin}' top --interval 1; echo "exit $?"; stty -a | grep -o '[-]*icanon\\|[-]*echo\\b'`
  return openTerminal(command, { env: { ...env, ...more }, size })
}

/** The last complete picture: from the cursor's move home to the erasing of what is below. */
const picture = (written: string): string => {
  const end = written.lastIndexOf('\u001b[J')
  return end === -1 ? '' : written.slice(written.lastIndexOf('\u001b[H', end) + 3, end)
}

test('shows a request that arrives and its decision, in 80 columns and 24 rows, and quits with q', async () => {
  const terminal = start()
  await terminal.until(() => /Nodes/.test(terminal.written()))
  await ask('Deploy 4.2 to production')
  await terminal.until(() => /Deploy 4\.2/.test(picture(terminal.written())))
  const lines = await screenOf(picture(terminal.written()), 80)
  const shown = lines.filter((line) => line !== '')
  expect(shown.length).toBeLessThanOrEqual(24)
  for (const line of shown) expect(line.length).toBeLessThanOrEqual(80)
  for (const title of ['Pending', 'Decided', 'Notifications', 'Channels', 'Nodes'])
    expect(shown.some((line) => line.startsWith(title))).toBe(true)
  expect(terminal.written()).not.toContain(person.mobile)
  await person.answer()
  await terminal.until(() => /approved/.test(terminal.written()))
  terminal.type('q')
  await terminal.ended
  const after = terminal.written()
  expect(after).toContain('exit 0')
  expect(after).toContain('\u001b[?25h\u001b[?1049l')
  expect(after).not.toContain('-icanon')
})

test('NO_COLOR turns colours off', async () => {
  const terminal = start({ NO_COLOR: '1' })
  await terminal.until(() => /Nodes/.test(terminal.written()))
  terminal.type('\u0003')
  await terminal.ended
  // oxlint-disable-next-line no-control-regex
  expect(terminal.written()).not.toMatch(/\u001b\[\d+(?:;\d+)*m/)
  expect(terminal.written()).toContain('exit 0')
})

test('gives the terminal back when it is ended by SIGTERM', async () => {
  const line = `'${process.execPath}' '${bin}' top --interval 1 & echo "pid $!"; fg %1 >/dev/null; echo "exit $?"; stty -a | grep -o '[-]*icanon'`
  const terminal = openTerminal(`set -m; ${line}`, { env, size: { rows: 24, columns: 80 } })
  await terminal.until(() => /Nodes/.test(terminal.written()))
  const [, pid] = /pid (\d+)/.exec(terminal.written()) ?? []
  process.kill(Number(pid), 'SIGTERM')
  await terminal.ended
  expect(terminal.written()).toContain('\u001b[?25h\u001b[?1049l')
  expect(terminal.written()).toContain('exit 130')
  expect(terminal.written()).not.toContain('-icanon')
})

test('--once prints it to a pipe, and -o json as data', async () => {
  const once = await svc(['top', '--once'], env)
  expect(once).toMatchObject({ exit: 0, stderr: '' })
  expect(once.stdout).toContain('Nodes (1)')
  const data = JSON.parse((await svc(['top', '-o', 'json'], env)).stdout) as Record<
    string,
    { rows: unknown[] }
  >
  expect(Object.keys(data)).toEqual(['pending', 'decisions', 'channels', 'messages', 'nodes'])
  expect(data['nodes']!.rows).toHaveLength(1)
})

test('names the part that a key cannot see, and shows the rest', async () => {
  const { body } = await remote(service.baseUrl, operator).call('POST', '/svc/v1/keys', {
    body: { name: 'reads', scopes: ['read'], org_id: person.org.id },
  })
  const { exit, stdout } = await svc(['top', '--once'], { ...env, SVC_API_KEY: body.data.key })
  expect(exit).toBe(0)
  expect(stdout).toMatch(/Nodes\nnot shown: /)
  expect(stdout).toMatch(/Notifications\nnot shown: /)
  expect(stdout).toMatch(/Decided/)
  expect(stdout).toMatch(/Channels \(/)
})

test.each([
  [['top'], 'svc top requires a terminal'],
  [['top', '--once', '--interval', '0'], '--interval must be a whole number from 1 to 9999, not "0"'],
])('%j fails without a terminal or with a bad value', async (args, message) => {
  const { exit, stderr } = await svc(args, env)
  expect(exit).toBe(2)
  expect(stderr).toContain(message)
})

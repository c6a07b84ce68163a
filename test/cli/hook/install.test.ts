import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hostNames, hosts } from '../../../src/cli/hook/host.ts'
import { svc } from '../svc.ts'
import { env, fileOf, folder, installHooks, put, read, run, to } from './install-stage.ts'

installHooks()

describe.each(hostNames)('svc hook install %s', (host) => {
  test('writes a hook with an absolute command and a longer time than svc waits, and removes it again', async () => {
    expect(await run(`hook install ${host} ${to} --timeout 60`)).toMatchObject({ exit: 0 })
    const [entry] = read(host).hooks[hosts[host].event]
    const command = hosts[host].commandAt.reduce((value, name) => value[name], entry)
    expect(command).toContain(`${process.execPath} `)
    expect(command).toContain(
      ` hook run ${host} --match ${hosts[host].shell.join(',')} --to +12025550101 --timeout 60`,
    )
    expect(JSON.stringify(entry)).toMatch(host === 'gemini' ? /"timeout":90000/ : /"timeout(?:Sec)?":90[,}]/)
    expect(statSync(fileOf(host)).mode & 0o777).toBe(0o600)
    expect(await run(`hook uninstall ${host}`)).toMatchObject({ exit: 0 })
    expect(existsSync(fileOf(host))).toBe(false)
  })

  test('changes nothing the second time, and replaces its hook if the flags differ', async () => {
    await run(`hook install ${host} ${to}`)
    const before = readFileSync(fileOf(host), 'utf8')
    expect((await run(`hook install ${host} ${to} -o json`)).exit).toBe(0)
    expect(readFileSync(fileOf(host), 'utf8')).toBe(before)
    await run(`hook install ${host} ${to} --match Other`)
    expect(read(host).hooks[hosts[host].event]).toHaveLength(1)
    expect(readFileSync(fileOf(host), 'utf8')).toContain('^(?:Other)$')
  })

  test('keeps everything else in the file, and leaves it as it was', async () => {
    const other =
      host === 'cursor' || host === 'copilot'
        ? { command: 'echo', bash: 'echo' }
        : { matcher: 'X', hooks: [] }
    const text = `{\n\t"z": [1,   2],\n\t"hooks": {\n\t\t"${hosts[host].event}": [\n\t\t\t${JSON.stringify(other, null, '\t').replaceAll('\n', '\n\t\t\t')}\n\t\t],\n\t\t"Stop": []\n\t},\n\t"a": null\n}\n`
    put(host, text)
    await run(`hook install ${host} ${to}`)
    const { hooks, ...rest } = read(host)
    const { skillSetting } = hosts[host]
    expect(rest).toEqual({ z: [1, 2], a: null, ...(skillSetting && { [skillSetting]: true }) })
    expect(hooks[hosts[host].event][0]).toEqual(other)
    expect(hooks[hosts[host].event]).toHaveLength(2)
    await run(`hook uninstall ${host}`)
    expect(readFileSync(fileOf(host), 'utf8')).toBe(text)
  })

  test('writes nothing with --dry-run', async () => {
    expect(await run(`hook install ${host} ${to} --dry-run`)).toMatchObject({ exit: 0 })
    expect(readdirSync(folder.path)).toEqual([])
    await run(`hook install ${host} ${to}`)
    const before = readFileSync(fileOf(host), 'utf8')
    expect(await run(`hook uninstall ${host} --dry-run`)).toMatchObject({ exit: 0 })
    expect(readFileSync(fileOf(host), 'utf8')).toBe(before)
  })
})

test('keeps comments and trailing commas', async () => {
  const text = '{\n  // mine\n  "ui": {}, /* too */\n}\n'
  put('gemini', text)
  await run(`hook install gemini ${to}`)
  expect(readFileSync(fileOf('gemini'), 'utf8')).toContain('// mine')
  await run('hook uninstall gemini')
  expect(readFileSync(fileOf('gemini'), 'utf8')).toContain('/* too */')
})

test.each([
  ['{\n  "hooks": {,\n}\n', /settings\.json:2:13 is not valid JSON/],
  ['[]', /settings\.json:1:1 is not a JSON object/],
  ['{"a": 1,\n "hooks": []}', /settings\.json:2:11 must be an object/],
  ['{"hooks": {\n "PreToolUse": {}}}', /settings\.json:2:16 must be a list/],
  ['{"hooks": {},\n "hooks": {}}', /settings\.json:2:2 repeats "hooks"/],
  ['{"hooks": {"PreToolUse": [],\n "PreToolUse": []}}', /settings\.json:2:2 repeats "PreToolUse"/],
])('refuses the damaged file %j with its line and column', async (text, message) => {
  const file = put('claude', text)
  for (const line of [`hook install claude ${to}`, 'hook uninstall claude']) {
    const result = await run(line)
    expect(result.exit).toBe(1)
    expect(result.message).toMatch(message)
    expect(result.message).toContain('nothing was written')
  }
  expect(readFileSync(file, 'utf8')).toBe(text)
  expect(readdirSync(dirname(file))).toEqual(['settings.json'])
})

test('writes through a link and keeps the mode of the file', async () => {
  const real = join(folder.path, 'dotfiles.json')
  writeFileSync(real, '{}')
  chmodSync(real, 0o640)
  mkdirSync(dirname(fileOf('claude')))
  symlinkSync(real, fileOf('claude'))
  await run(`hook install claude ${to}`)
  expect(lstatSync(fileOf('claude')).isSymbolicLink()).toBe(true)
  expect(readFileSync(real, 'utf8')).toContain('svc-hook')
  expect(statSync(real).mode & 0o777).toBe(0o640)
})

test('writes the flags for the request and files by absolute path, and no secret', async () => {
  const result = await svc(
    `hook install claude ${to} --match Edit --match 'mcp__a__*' --reason "it's for Ada" --factors biometric,location --base-url https://svc.example.com/api --key-file ask.key`,
    { env: { ...env(), SVC_API_KEY: 'svc_op_secret' }, cwd: folder.path },
  )
  expect(result.exit).toBe(0)
  const { command } = read('claude').hooks.PreToolUse[0].hooks[0]
  expect(command).toContain(
    String.raw`--match 'Edit,mcp__a__*' --to +12025550101 --timeout 120 --reason 'it'\''s for Ada' --factors biometric,location --base-url https://svc.example.com/api --key-file ${folder.path}/ask.key`,
  )
  expect(command).not.toContain('secret')
})

test('writes what variables choose, because the hook does not read them', async () => {
  const variables = {
    SVC_BASE_URL: 'https://svc.example.com/api',
    SVC_DEFAULT_MOBILE: '+12025550101',
    SVC_DEFAULT_FACTORS: 'biometric,device',
    SVC_REQUEST_FROM: 'Laptop',
    SVC_CONFIG_DIR: join(folder.path, 'profiles'),
  }
  const install = 'hook install claude --key-file ask.key'
  const result = await svc(install, { env: { ...env(), ...variables }, cwd: folder.path })
  expect(result.exit).toBe(0)
  expect(result.err).toMatch(
    /^Not every call may be held.*\nEvery held call is blocked.*ask\.key: it does not exist\n$/,
  )
  const { command } = read('claude').hooks.PreToolUse[0].hooks[0]
  expect(command).toContain(
    '--to +12025550101 --timeout 120 --default-factors biometric,device --requester Laptop --base-url https://svc.example.com/api',
  )
  expect(command).toContain(
    ` HOME=${folder.path} SVC_CONFIG_DIR=${folder.path}/profiles ${process.execPath} `,
  )
})

test('refuses a key in a variable', async () => {
  const { exit, err } = await svc(`hook install claude ${to}`, {
    env: { ...env(), SVC_ASK_KEY: 'svc_secret' },
    cwd: folder.path,
  })
  expect([exit, err]).toEqual([
    2,
    expect.stringMatching(/does not read variables.*SVC_ASK_KEY[^]*--key-file/),
  ])
  expect(err).not.toContain('svc_secret')
  expect(readdirSync(folder.path)).toEqual([])
})

test.each([
  [`hook install claude ${to} --timeout 90000`, /--timeout must be 1 to 86400/],
  ['hook install claude --to 12', /--to/],
  [`hook install claude ${to} --project --managed`, /exclude each other/],
  [`hook install codex ${to} --managed`, /Codex has no file for hooks of all users/],
  [`hook install claude ${to} --match 'a b'`, /is not the name of a tool/],
  [`hook install claude ${to} --key-file -`, /--key-file - cannot be used/],
  ['hook install emacs', /emacs/],
  [`hook install gemini ${to} --reason 'costs $FEE'`, /costs \$FEE" contains \$/],
])('refuses %s', async (line, message) => {
  const { exit, err } = await run(line)
  expect(exit).toBe(2)
  expect(err).toMatch(message)
  expect(readdirSync(folder.path)).toEqual([])
})

test.each([
  ['{"hooksConfig": {"enabled": false}}', 'hooksConfig.enabled'],
  ['{"hooksConfig": {"disabled": ["svc"]}}', 'hooksConfig.disabled'],
])('warns if a project makes Gemini CLI ignore the hook with %s', async (text, setting) => {
  const cwd = join(folder.path, 'work')
  mkdirSync(join(cwd, '.gemini'), { recursive: true })
  writeFileSync(join(cwd, '.gemini', 'settings.json'), text)
  const { err } = await svc(`hook install gemini ${to}`, { env: env(), cwd })
  expect(err).toContain(`ignores all hooks because of "${setting}"`)
})

test.each(['settings.json', 'settings.local.json'])(
  'warns if a project makes Claude Code ignore all hooks in %s',
  async (name) => {
    const cwd = join(folder.path, 'work')
    mkdirSync(join(cwd, '.claude'), { recursive: true })
    writeFileSync(join(cwd, '.claude', name), '{"disableAllHooks": true}')
    const at = (line: string) => svc(line, { env: env(), cwd })
    const off = `"disableAllHooks" in ${join(cwd, '.claude', name)}`
    expect((await at(`hook install claude ${to}`)).err).toContain(`ignores all hooks because of ${off}`)
    const { exit, out } = await at('hook status -o json')
    expect([exit, JSON.parse(out)[0]]).toEqual([
      1,
      expect.objectContaining({ name: 'claude', state: 'broken', detail: expect.stringContaining(off) }),
    ])
  },
)

test('warns of the variable with which a shell runs no hook', async () => {
  put('claude', '{"env": {"SHELLOPTS": "noexec"}}')
  expect((await run(`hook install claude ${to}`)).err).toContain('because of "env.SHELLOPTS"')
})

test('warns if the host ignores all hooks', async () => {
  put('claude', '{"disableAllHooks": true}')
  expect((await run(`hook install claude ${to}`)).err).toContain(
    'ignores all hooks because of "disableAllHooks"',
  )
})

test.each(hostNames)('status reports that %s calls the hook for other tools than it holds', async (host) => {
  await run(`hook install ${host} ${to}`)
  const state = async (): Promise<unknown> => {
    const rows: { name: string; state: string }[] = JSON.parse((await run('hook status -o json')).out)
    return rows.find(({ name }) => name === host)?.state
  }
  expect(await state()).not.toBe('open')
  const config = read(host)
  config.hooks[hosts[host].event][0].matcher = '^Nothing$'
  put(host, JSON.stringify(config))
  expect(await state()).toBe('open')
})

import { beforeAll, describe, expect, test } from 'vitest'
import { svcHere } from './prepare.ts'
import { onTerminal } from './terminal.ts'
import { env, installHooks, service } from './bare-service.ts'

const enter = '\r'

installHooks()
beforeAll(async () => {
  await svcHere('org create --name Acme', env)
})

const createKey = async (
  name: string,
  can: string,
  creator: string,
): Promise<{ id: string; key: string }> => {
  const { stdout } = await svcHere(`key create --name ${name} --can ${can} -o json`, {
    ...env,
    SVC_API_KEY: creator,
  })
  return JSON.parse(stdout)
}

const start = 'timeslot create --org acme --days mon --start 09:00 --end 17:00'.split(' ')

describe('on a terminal', () => {
  test('prompts for missing values, and again after an invalid answer', async () => {
    const { exit, screen } = await onTerminal(['geofence', 'create', '--org', 'acme'], env, [
      [/Name/, `HQ${enter}`],
      [/Latitude/, `95${enter}`],
      [/must be 90 or less/, `\u0015`],
      [/Latitude/, `52.5${enter}`],
      [/Longitude/, `13.4${enter}`],
      [/Radius/, `100${enter}`],
      [/active/, `1${enter}`],
    ])
    expect(screen).toMatch(/Geofence created/)
    expect(exit).toBe(0)
  })
  test('checks each answer as it is typed: a list, an organization', async () => {
    const { exit, screen } = await onTerminal(
      ['timeslot', 'create', '--start', '09:00', '--end', '17:00'],
      env,
      [
        [/Organization/, `nope${enter}`],
        [/"nope" not found/, `\u0015acme${enter}`],
        [/Name/, `Day${enter}`],
        [/Days/, `mon-fry${enter}`],
        [/This must be mon, tue/, `\u0015mon-fri${enter}`],
        [/time zone/, `UTC${enter}`],
      ],
    )
    expect(screen).toMatch(/days +mon, tue, wed, thu, fri/)
    expect(exit).toBe(0)
  })
  test('offers the only organization', async () => {
    const { exit, screen } = await onTerminal(['group', 'list'], env, [[/Organization[^]*acme/, enter]])
    expect([exit, screen]).toEqual([0, expect.stringContaining('Nothing found')])
  })
  test('sends nothing when several lines are pasted, and asks again', async () => {
    const { exit, screen } = await onTerminal(['org', 'create'], env, [
      [/Name/, `Half\rof a name\r`],
      [/more than one line[^]*Enter one line[^]*Name/, `Whole${enter}`],
      [/Slug/, enter],
    ])
    expect(screen).toMatch(/Organization created/)
    expect(exit).toBe(0)
    const { stdout } = await svcHere('org list --jq .[].name', env)
    expect(stdout).toContain('Whole')
    expect(stdout).not.toContain('Half')
  })
  test('asks for the slug with the name, and takes the one of the name without it', async () => {
    const { exit, screen } = await onTerminal(['org', 'create'], env, [
      [/Name/, `Globex Corp${enter}`],
      [/empty for globex-corp/, `Globex${enter}`],
      [/must be lower-case letters/, `\u0015globex${enter}`],
    ])
    expect([exit, screen]).toEqual([0, expect.stringMatching(/slug +globex\b/)])
  })
  test('reports a value that the service rejects', async () => {
    const { exit } = await onTerminal([...start, '--timezone', 'Mars/Base'], env, [[/Name/, `Day${enter}`]])
    expect(exit).toBe(2)
  })
  test('offers scopes in a list that explains each', async () => {
    const { exit, screen } = await onTerminal(['key', 'create', '--name', 'ticked'], env, [
      [/What the key can do[^]*ask +request approvals[^]*admin +every scope except ask and app/, enter],
      [/least one/, ' \u001B[B \u001B[B\u001B[B '],
      [/◉[^]{0,10} rules/, enter],
    ])
    expect([exit, screen]).toEqual([0, expect.stringMatching(/scopes +ask, read, rules/)])
  })
  test('asks what a new rule holds, because without a pattern it holds everything', async () => {
    const create = ['rule', 'create', 'deploy', '--org', 'acme', '--who', '@sre', '--dry-run']
    const { exit, screen } = await onTerminal([...create, '--type', 'command'], env, [
      [/for every command/, `\u0430pply${enter}`],
      [/must not mix/, `\u0015terraform  ** destroy${enter}`],
    ])
    expect(screen).toMatch(/"argv": \[\s+"terraform",\s+"\*\*",\s+"destroy"\s+\]/)
    expect(exit).toBe(0)
    const text = await onTerminal([...create, '--type', 'text'], env, [
      [/for every text/, `Pay * at once${enter}`],
    ])
    expect([text.exit, text.screen]).toEqual([0, expect.stringMatching(/"text": \[\s+"Pay \* at once"\s+\]/)])
  })
  test('says what a rule without a pattern holds before it sends it', async () => {
    const create = ['rule', 'create', 'deploy', '--org', 'acme', '--who', '@sre', '--type', 'command']
    const { exit, screen } = await onTerminal(create, env, [
      [/for every command/, enter],
      [/holds every command\. Continue\?/, enter],
    ])
    expect([exit, screen]).toEqual([1, expect.stringContaining('No rule was created')])
  })
  test('lists the keys that end with a revoked key', async () => {
    const parent = await createKey('parent', 'keys,ask,read', service.key)
    const lonely = await onTerminal(['key', 'revoke', parent.id], env, [
      [/No other key is revoked with it[^]*Continue\?/, enter],
    ])
    expect([lonely.exit, lonely.screen]).toEqual([1, expect.stringContaining('Nothing was deleted')])
    const deploy = await createKey('deploy', 'ask', parent.key)
    const reader = await createKey('reader', 'read', parent.key)
    const { exit, screen } = await onTerminal(['key', 'revoke', parent.id], env, [
      [/Continue\?/, `y${enter}`],
    ])
    expect(screen).toContain(
      `2 keys are revoked with it: ${deploy.id} deploy (ask); ${reader.id} reader (read)`,
    )
    expect([exit, screen]).toEqual([0, expect.stringContaining('Key revoked')])
    expect((await svcHere(['whoami'], { ...env, SVC_API_KEY: deploy.key })).exit).toBe(4)
  })
  test('deletes only after a yes', async () => {
    const no = await onTerminal(['geofence', 'delete', '1', '--org', 'acme'], env, [[/Continue\?/, enter]])
    expect(no.exit).toBe(1)
    expect(no.screen).toMatch(/Nothing was deleted/)
    const yes = await onTerminal(['geofence', 'delete', '1', '--org', 'acme'], env, [
      [/Continue\?/, `y${enter}`],
    ])
    expect(yes.exit).toBe(0)
  })
  test('exits with 130 on Ctrl-C at a prompt and sends nothing', async () => {
    const listed = await svcHere(['org', 'list', '-o', 'id'], env)
    const { exit, screen } = await onTerminal(['org', 'create'], env, [[/Name/, '\u0003']])
    expect(exit).toBe(130)
    expect(screen).not.toMatch(/ {4}at /)
    expect(await svcHere(['org', 'list', '-o', 'id'], env)).toEqual(listed)
  })
  test('exits with 130 on Esc at the second prompt and sends nothing', async () => {
    const { exit } = await onTerminal(['geofence', 'create', '--org', 'acme'], env, [
      [/Name/, `Never${enter}`],
      [/Latitude/, '\u001b'],
    ])
    expect(exit).toBe(130)
    const { stdout } = await svcHere(['geofence', 'list', '--org', 'acme'], env)
    expect(stdout).not.toContain('Never')
  })
  test('does not echo a secret', async () => {
    const { screen } = await onTerminal(
      ['org', 'creds', 'set-idp', '--org', 'acme', '--provider', 'okta', '--client-id', 'x'],
      env,
      [[/Client secret/, `hush-hush${enter}`]],
    )
    expect(screen).toMatch(/client_secret_set +true/)
    expect(screen).not.toMatch(/hush/)
  })
  test('does not prompt with --no-input', async () => {
    const { exit, screen } = await onTerminal(['org', 'create', '--no-input'], env, [])
    expect(exit).toBe(2)
    expect(screen).toMatch(/Missing --name/)
  })
})

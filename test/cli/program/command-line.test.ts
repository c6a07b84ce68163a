import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { operationLine } from '../../../src/cli/operation/approval-subject.ts'
import { typedAgain, typedLine } from '../../../src/cli/program/command-line.ts'
import { commandTree, openContext } from '../../../src/cli/main.ts'
import { org } from '../../../src/contract/org.ts'
import { memoryIo } from '../memory-io.ts'
import { svc } from '../svc.ts'

const extra = { idp: { client_secret: 'hush', client_id: 'c1' }, api_token: 'hush' }

describe('a nested secret', () => {
  test('is not in the text that an approver reads', () => {
    const line = operationLine(
      org.updateOrganization,
      { input: { org_id: 1, name: 'X' }, extra },
      { args: ['acme'], options: {} },
    )
    expect(line).toContain('"client_id":"c1"')
    expect(line).not.toContain('hush')
  })

  test('is not in a repeated command line', () => {
    const command = new Command('update').option('-F, --field <key=value>')
    command.parse(['-F', `idp=${JSON.stringify(extra.idp)}`], { from: 'user' })
    expect(typedLine(command)).toContain('"client_id":"c1"')
    expect(typedLine(command)).not.toContain('hush')
  })

  test.each([[[]], [['-o', 'json']]])('is not in a dry run with %j', async (more) => {
    const env = { SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api', SVC_API_KEY: 'k' }
    const fields = ['-F', 'idp.client_secret=hush', '-f', 'api_token=hush', '-f', 'note=kept']
    const ran = await svc(['org', 'update', '1', '--name', 'X', ...fields, '--dry-run', ...more], { env })
    expect(ran.exit).toBe(0)
    expect(ran.out).toContain('"note": "kept"')
    expect(ran.out + ran.err).not.toContain('hush')
  })
})

const typed = async (argv: string[], change?: Parameters<typeof typedAgain>[2]): Promise<string> => {
  const context = openContext(memoryIo())
  const program = await commandTree(context, argv)
  let again = ''
  program.hook('preAction', async (_, command) => {
    again = typedAgain(command, argv, change)
    throw new Error('seen')
  })
  await program.parseAsync(argv, { from: 'user' }).catch(() => undefined)
  return again
}

describe('a repeated command line', () => {
  test('contains everything that was typed, quoted for a shell', async () => {
    expect(
      await typed(['-p', "it's", 'user', 'list', '--org', 'acme', '--limit', '2', '--no-color', '-o', 'id']),
    ).toBe(String.raw`svc user list --org acme --limit 2 -p 'it'\''s' -o id --no-color`)
  })

  test('replaces changed flags', async () => {
    const change = { without: ['--cursor'], plus: ['--cursor', 'b c'] }
    expect(await typed(['audit', 'list', '--cursor', 'a', '--since', '2 h'], change)).toBe(
      "svc audit list --since '2 h' --cursor 'b c'",
    )
  })

  test('keeps a negated flag as it was typed', async () => {
    const line = await typed(['org', 'update', 'acme', '--no-device-trust'])
    expect(line).toBe('svc org update acme --no-device-trust')
  })

  test('is only what changes when a secret was typed', async () => {
    const argv = ['org', 'update', 'acme', '-f', 'api_token=hush', '-F', 'idp={"password":"hush"}']
    expect(await typed(argv, { plus: ['--yes'] })).toBe('Type the same command with --yes')
  })
})

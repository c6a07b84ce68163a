import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { operationLine, typedLine } from '../../src/cli/command-line.ts'
import { run } from '../../src/cli/main.ts'
import { org } from '../../src/contract/org.ts'
import { memoryIo } from './memory-io.ts'

const extra = { idp: { client_secret: 'hush', client_id: 'c1' }, api_token: 'hush' }

describe('a secret below another field', () => {
  test('is not in what the approver reads of an operation', () => {
    const line = operationLine(
      org.updateOrganization,
      { input: { org_id: 1, name: 'X' }, extra },
      { args: ['acme'], options: {} },
    )
    expect(line).toContain('"client_id":"c1"')
    expect(line).not.toContain('hush')
  })

  test('is not in a command as it was typed', () => {
    const command = new Command('update').option('-F, --field <key=value>')
    command.parse(['-F', `idp=${JSON.stringify(extra.idp)}`], { from: 'user' })
    expect(typedLine(command)).toContain('"client_id":"c1"')
    expect(typedLine(command)).not.toContain('hush')
  })

  test.each([[[]], [['-o', 'json']]])('is not in a dry run with %j', async (more) => {
    const io = memoryIo({ env: { SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api', SVC_API_KEY: 'k' } })
    const fields = ['-F', 'idp.client_secret=hush', '-f', 'api_token=hush', '-f', 'note=kept']
    expect(await run(['org', 'create', '--name', 'X', ...fields, '--dry-run', ...more], io)).toBe(0)
    expect(io.out()).toContain('"note": "kept"')
    expect(io.out() + io.err()).not.toContain('hush')
  })
})

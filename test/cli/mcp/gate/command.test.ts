import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { temporaryFolder } from '../../../temporary-folder.ts'
import { svc } from '../../svc.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())
const rules = join(folder.path, 'gate.yaml')
writeFileSync(rules, 'server: notes\nto: "+12025550101"\n')

test.each([
  ['--header-file x', '--header-file is only for --url'],
  ['--header-file x -- true', '--header-file is only for --url'],
  ['--env TOKEN --url https://mcp.example.com/mcp', '--env is only for a server that svc starts'],
  ['--url nowhere', '--url'],
  ['--url https://mcp.example.com/mcp -- true', 'Name one server'],
])('--check %s is refused as without --check', async (flags, message) => {
  for (const check of ['--check ', '']) {
    const { exit, err } = await svc(`mcp gate --rules ${rules} ${check}${flags}`)
    expect([exit, err]).toEqual([2, expect.stringContaining(message)])
  }
})

test('--check requires no server', async () => {
  expect((await svc(`mcp gate --rules ${rules} --check`)).exit).toBe(0)
})

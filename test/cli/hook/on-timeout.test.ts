import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hosts, type HostName } from '../../../src/cli/hook/host.ts'
import { onTimeout } from '../../../src/cli/hook/on-timeout.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.remove())

/** An environment whose PATH has this program for a host. */
const withProgram = (host: HostName, code: string): Record<string, string> => {
  writeFileSync(join(folder.path, host), `#!/bin/sh\n${code}\n`, { mode: 0o755 })
  return { HOME: folder.path, PATH: `${folder.path}:/usr/bin:/bin`, SVC_CONFIG_DIR: folder.path }
}

const late = 'if the hook does not answer in time'
const nobody = `it is not known what the Claude Code of this machine does ${late}`

test.each<[HostName, string, state: string, text: string]>([
  [
    'claude',
    'echo "2.1.197 (Claude Code)"',
    'open',
    `Claude Code 2.1.197 runs a call ${late}; 2.1.295 and newer block it`,
  ],
  ['claude', 'echo 2.1.294', 'open', `Claude Code 2.1.294 runs a call ${late}; 2.1.295 and newer block it`],
  ['claude', 'echo 1.9.900', 'open', `Claude Code 1.9.900 runs a call ${late}; 2.1.295 and newer block it`],
  ['claude', 'echo "2.1.295 (Claude Code)"', 'ok', `Claude Code 2.1.295 blocks a call ${late}`],
  ['claude', 'echo 2.2.0', 'ok', `Claude Code 2.2.0 blocks a call ${late}`],
  ['codex', 'echo "codex-cli 0.169.0"', 'open', `Codex 0.169.0 runs a call ${late}`],
  ['codex', 'echo "codex-cli 0.169.1"', 'unknown', `it is not known what Codex 0.169.1 does ${late}`],
  ['copilot', 'echo "GitHub Copilot CLI 1.0.102."', 'open', `Copilot CLI 1.0.102 runs a call ${late}`],
  ['gemini', 'echo 0.61.0', 'open', `Gemini CLI 0.61.0 runs a call ${late}`],
  ['cursor', 'echo 9.9.9', 'unknown', `it is not known what the Cursor of this machine does ${late}`],
  ['claude', 'echo none', 'unknown', nobody],
  ['claude', 'echo 2.1.330; exit 1', 'unknown', nobody],
  ['codex', 'echo 0.9.0; [ "$PWD$SVC_CONFIG_DIR" = / ]', 'open', `Codex 0.9.0 runs a call ${late}`],
])('of %s with %s, it is %s', async (host, code, state, text) => {
  expect(await onTimeout(hosts[host], { env: withProgram(host, code) })).toEqual({ state, text })
})

/** What an installation reports beside this version. */
const installed = async (version: string): Promise<string> =>
  (await svc('hook install claude --to +12025550101', { env: withProgram('claude', `echo ${version}`) })).err

test('an installation warns of a host that runs a call, and not of one that blocks it', async () => {
  expect(await installed('2.1.294')).toContain(
    `Not every call may be held: Claude Code 2.1.294 runs a call ${late}`,
  )
  expect(await installed('2.1.295')).not.toContain('Not every call')
})

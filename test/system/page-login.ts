import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { outcome, startSvc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { stage } from './open-stage.ts'

/** `svc profile login`, whose browser only notes the address. */
export const startLogin = async () => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const note = `${folder.path}/address`
  writeFileSync(`${folder.path}/browser`, `#!/bin/sh\nprintf %s "$1" >"${note}"\n`, { mode: 0o755 })
  const env = { SVC_CONFIG_DIR: `${folder.path}/config`, BROWSER: `${folder.path}/browser` }
  const ended = outcome(startSvc(['profile', 'login', 'mine', '--base-url', stage.baseUrl], env))
  for (;;)
    try {
      return { env, ended, address: new URL(readFileSync(note, 'utf8')).href }
    } catch {
      await sleep(20)
    }
}

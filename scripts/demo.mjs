import { spawnSync } from 'node:child_process'

// `npm run demo` needs Node alone; with --browser a Chromium is the phone, which only a clone has the driver for.
const browser = process.argv.includes('--browser')
const [command, ...args] = browser
  ? ['tsx', 'test/system/demo.mts']
  : [process.execPath, 'bin/svc.js', 'demo']
const { status } = spawnSync(command, args, { stdio: 'inherit' })
process.exitCode = status ?? 1

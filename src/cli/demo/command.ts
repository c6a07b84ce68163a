import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Register, RunLine } from '../program/program.ts'
import type { Io } from '../terminal/io.ts'
import { playAll } from './play.ts'
import { steps } from './steps.ts'

type Start = { started: number; run: RunLine }

/** What `svc serve` prints. The key is never used again, but demos are shown on screens. */
const announcement = ({ baseUrl, place }: { baseUrl: string; place: string }, flags: string): string =>
  `$ svc serve ${flags}\nOperator key, shown once: svc_op_…\nsvc is ready at ${baseUrl} (data in ${place})\n`

/** Plays the demo on a service in this process. `io` has its folder and environment. */
const playAlone = async (io: Io, { started, run }: Start): Promise<void> => {
  const { startService } = await import('../../service/lifecycle/serve.ts')
  const service = await startService({
    port: 0,
    host: '127.0.0.1',
    dataDir: join(io.cwd, 'data'),
    dev: true,
    env: {},
    log: () => undefined,
  })
  try {
    io.stdout.write(announcement(service, '--port 0 --dev --data-dir data'))
    const env = { ...io.env, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: service.operatorKey }
    const values = new Map([['service', service.baseUrl]])
    await playAll(steps, { ...io, env }, { started, run, values })
  } finally {
    await service.stop()
  }
}

/** `svc demo`: runs all steps on its own service, in a temporary folder that is then deleted. */
export const registerDemo: Register = (command, { io }, { run }) => {
  command
    .usage('[flags]')
    .option('--nodes', 'Show an approval on three nodes instead; requires PostgreSQL')
    .addHelpText('after', '\nExamples:\n  svc demo\n  svc demo --nodes')
    .action(async () => {
      const start = { started: io.now().getTime(), run }
      const folder = mkdtempSync(join(tmpdir(), 'svc-demo-'))
      try {
        const { PATH, TERM, NO_COLOR } = io.env
        const env = {
          PATH,
          TERM,
          NO_COLOR: NO_COLOR ?? (io.stdout.isTTY ? undefined : '1'),
          SVC_CONFIG_DIR: join(folder, 'config'),
        }
        const inside = { ...io, env, cwd: folder }
        if (command.opts<{ nodes?: boolean }>().nodes)
          await (await import('./nodes.ts')).playOnNodes(inside, start)
        else await playAlone(inside, start)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
}

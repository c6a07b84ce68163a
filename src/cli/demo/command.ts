import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Register } from '../program/program.ts'
import { playAll } from './play.ts'
import { steps } from './steps.ts'

/** `svc demo`: runs all steps on its own service, in a temporary folder that is then deleted. */
export const registerDemo: Register = (command, { io }, { run }) => {
  command
    .usage('[flags]')
    .addHelpText('after', '\nExample:\n  svc demo')
    .action(async () => {
      const started = io.now().getTime()
      const { startService } = await import('../../service/lifecycle/serve.ts')
      const cwd = mkdtempSync(join(tmpdir(), 'svc-demo-'))
      try {
        const service = await startService({
          port: 0,
          host: '127.0.0.1',
          dataDir: join(cwd, 'data'),
          dev: true,
          env: {},
          log: () => undefined,
        })
        try {
          // What `svc serve` prints. The key is never used again, but demos are shown on screens.
          io.stdout.write(
            `$ svc serve --port 0 --dev --data-dir data\nOperator key, saved in the profile local: svc_op_…\nsvc is ready at ${service.baseUrl} (data in ${service.place})\n`,
          )
          const { PATH, TERM, NO_COLOR } = io.env
          const env = {
            PATH,
            TERM,
            NO_COLOR: NO_COLOR ?? (io.stdout.isTTY ? undefined : '1'),
            SVC_CONFIG_DIR: join(cwd, 'config'),
            SVC_BASE_URL: service.baseUrl,
            SVC_API_KEY: service.operatorKey,
          }
          await playAll(steps, { ...io, env, cwd }, { started, run })
        } finally {
          await service.stop()
        }
      } finally {
        rmSync(cwd, { recursive: true, force: true })
      }
    })
}

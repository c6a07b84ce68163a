import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SvcError } from '../../core/errors.ts'
import type { Register, RunLine } from '../program/program.ts'
import { developerLog } from './developer-log.ts'
import { play, typed } from './play.ts'
import type { Step } from './step.ts'
import { steps } from './steps.ts'
import type { Io } from '../terminal/io.ts'

const failure = (step: Step, problem: string): SvcError =>
  new SvcError('failed', 'demo_failed', `The demo stopped: ${problem}`, { detail: typed(step) })

const tell = async (io: Io, started: number, run: RunLine): Promise<void> => {
  const secrets = new Map<string, string>()
  for (const step of steps) {
    if (io.signal.aborted) throw new SvcError('interrupted', 'interrupted', 'Interrupted')
    if (step.title) io.stdout.write(`\n# ${step.title}\n`)
    io.stdout.write(`$ ${typed(step)}\n`)
    const { problem, output, kept } = await play(step, io, secrets, run)
    io.stdout.write(output)
    if (problem) throw failure(step, problem)
    for (const one of kept) secrets.set(...one)
  }
  const seconds = (io.now().getTime() - started) / 1000
  io.stdout.write(
    `\n${steps.length} steps, all as expected, in ${seconds.toFixed(1)} s. Nothing is left behind.\n`,
  )
}

/** `svc demo`: the whole story on a service of its own in a temporary folder, which is gone afterwards. */
export const registerDemo: Register = (command, context, { run }) => {
  command
    .usage('')
    .addHelpText('after', '\nExample:\n  svc demo')
    .action(async () => {
      const started = context.io.now().getTime()
      const folder = mkdtempSync(join(tmpdir(), 'svc-demo-'))
      const { startService } = await import('../../service/lifecycle/serve.ts')
      try {
        const service = await startService({
          port: 0,
          host: '127.0.0.1',
          dataDir: join(folder, 'data'),
          dev: true,
          env: {},
          log: ({ message }) => message && appendFileSync(developerLog(folder), `${message}\n`),
        })
        try {
          context.io.stdout.write(`$ svc serve --port 0 --dev\nsvc is ready at ${service.baseUrl}\n`)
          const { PATH, TERM, NO_COLOR } = context.io.env
          const env = {
            PATH,
            TERM,
            NO_COLOR: NO_COLOR ?? (context.io.stdout.isTTY ? undefined : '1'),
            SVC_CONFIG_DIR: join(folder, 'config'),
            SVC_BASE_URL: service.baseUrl,
            SVC_API_KEY: service.operatorKey,
          }
          await tell({ ...context.io, env, cwd: folder }, started, run)
        } finally {
          await service.stop()
        }
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
}

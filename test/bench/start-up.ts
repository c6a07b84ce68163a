import { spawn } from 'node:child_process'
import { median, type Figure } from './figures.ts'
import { bin } from '../e2e/processes.ts'
import type { ServiceChild } from './service-child.ts'

const rounds = 20

/** Milliseconds from the start to the end of a process whose output goes to a pipe. */
export const timed = (argv: string[], env: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let errors = ''
    child.stdout.resume()
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0
        ? resolve(performance.now() - began)
        : reject(new Error(`${argv.join(' ')} ended with ${code}: ${errors}`)),
    )
  })

const commands: [what: string, argv: string[], must: number, beyond: number][] = [
  ['svc --version / node -e 0', ['--version'], 1.3, 1.15],
  ['svc --help / node -e 0', ['--help'], 1.5, 1.25],
  ['svc org --help / node -e 0', ['org', '--help'], 1.5, 1.25],
  ['svc org list, piped, real HTTP / node -e 0', ['org', 'list'], 2.8, 2.2],
]

/**
 * Each run is paired with a bare Node just before it, and the figure is the median of the ratios, so that other load affects
 * both.
 */
export const startUpFigures = async (service: ServiceChild): Promise<Figure[]> => {
  const ratios = commands.map((): number[] => [])
  for (let round = 0; round <= rounds; round++)
    for (const [at, [, argv]] of commands.entries()) {
      const bare = await timed(['-e', '0'], service.env)
      const ratio = (await timed([bin, ...argv], service.env)) / bare
      // The first round fills the disk cache.
      if (round > 0) ratios[at]!.push(ratio)
    }
  return commands.map(([what, , must, beyond], at) => ({
    what,
    figure: median(ratios[at]!),
    unit: '',
    must,
    beyond,
    more: false,
  }))
}

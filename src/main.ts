import { prebuiltHelp } from './cli/program/help-text.ts'
import { version } from './cli/program/version.ts'

const start = async (argv: string[]): Promise<number> => {
  // A hook that ends without a verdict must block.
  if (argv[0] === 'hook') process.exitCode = 2
  try {
    const [{ runOnNode }, { run }] = await Promise.all([
      import('./cli/terminal/io-node.ts'),
      import('./cli/main.ts'),
    ])
    return await runOnNode(argv, run)
  } catch {
    // Only what `run` could not even load ends here.
    process.stderr.write(
      'svc: its own files are damaged or were replaced while it ran\nhint: run it again, or install it anew\n',
    )
    return Number(process.exitCode ?? 1)
  }
}

// The answers that people and scripts ask most cost no command tree.
const quick = (argv: string[]): string | undefined =>
  argv.length === 1 && ['--version', '-v', '-V'].includes(argv[0]!)
    ? `svc ${version}\n`
    : prebuiltHelp(argv, Math.min(process.stdout.columns || 100, 100))

// A reader that stopped early, like `head`, has lost nothing.
const unwritten = ({ code }: NodeJS.ErrnoException): void => {
  if (code === 'EPIPE') return
  process.exitCode = 1
  process.stderr.write(`svc: standard output cannot be written (${code})\n`)
}

const argv = process.argv.slice(2)
const text = quick(argv)
if (text !== undefined) process.stdout.on('error', unwritten).write(text)
else
  void start(argv).then((exitCode) => {
    process.exitCode = exitCode
    return exitCode
  })

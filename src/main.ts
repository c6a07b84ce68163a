import { version } from '../package.json'

const start = async (argv: string[]): Promise<number> => {
  try {
    const { runOnNode } = await import('./cli/io-node.ts')
    return await runOnNode(argv)
  } catch {
    // Only what `run` could not even load ends here.
    process.stderr.write(
      'svc: its own files are damaged or were replaced while it ran\nhint: run it again, or install it anew\n',
    )
    return 1
  }
}

// The answer that scripts ask most costs no command tree.
const argv = process.argv.slice(2)
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V'))
  process.stdout.write(`svc ${version}\n`)
else
  void start(argv).then((exitCode) => {
    process.exitCode = exitCode
    return exitCode
  })

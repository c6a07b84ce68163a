import { version } from '../package.json'

// The answer that scripts ask most costs no command tree.
const argv = process.argv.slice(2)
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V'))
  process.stdout.write(`svc ${version}\n`)
else
  void import('./cli/io-node.ts').then(async ({ runOnNode }) => {
    process.exitCode = await runOnNode(argv)
  })

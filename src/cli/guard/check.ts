import type { Command } from 'commander'
import type { Context } from '../context/context.ts'
import { configPath, exampleConfig } from './config.ts'
import type { Lines } from './lines.ts'

const drawLines = ({ file, lines }: Lines): string => `\n# ${file}\n${lines.join('\n')}\n`

/** `svc guard check`: says whether the guards can work, what to fix, and which lines start them. */
export const registerCheck = (group: Command, context: Context): void => {
  const command = group
    .command('check')
    .description('Check the configuration of the guards, and print the lines that start them')
    .usage('[file] [flags]')
    .argument('[file]', `A configuration to check before it is installed; default: ${configPath}`)
    .option('--offline', 'Do not ask the service')
    .addHelpText(
      'after',
      `\nRun it as root: only root can read the key. A guard always uses ${configPath}, for example:\n\n` +
        `${exampleConfig.replaceAll(/^/gm, '  ')}` +
        '\n\nExample:\n  svc guard check --offline',
    )
  command.action(async () => {
    const { offline = false } = command.opts<{ offline?: boolean }>()
    const [{ examineGuard }, { reportFindings }] = await Promise.all([
      import('./examine.ts'),
      import('../doctor/report.ts'),
    ])
    const { findings, lines } = await examineGuard(command.args[0], { offline }, context)
    await reportFindings(findings, context, {
      code: 'unsafe_guard',
      hint: 'Do not rely on the guards until every check passes',
      below: lines.map(drawLines).join(''),
    })
  })
}

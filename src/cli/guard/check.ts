import type { Command } from 'commander'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { configPath, exampleConfig } from './config.ts'
import type { Finding } from './examine.ts'
import type { Lines } from './lines.ts'

/** Every line whole, to be copied. */
const draw = (findings: readonly Finding[]): string =>
  findings
    .flatMap(({ check, state, message, fix }) => {
      const [first, ...more] = message.split('\n')
      const below = [...more, ...(fix === undefined ? [] : [`fix: ${fix}`])]
      return [`${state.padEnd(4)}  ${check}: ${first}`, ...below.map((line) => `      ${line}`)]
    })
    .map((line) => `${safeLine(line)}\n`)
    .join('')

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
    const [{ examineGuard }, output] = await Promise.all([import('./examine.ts'), context.output()])
    const { findings, lines } = await examineGuard(command.args[0], { offline }, context)
    const { output: format, json } = context.globals
    const plain =
      output.format === 'table' || (output.format === 'tsv' && format === undefined && json === undefined)
    if (plain) context.io.stdout.write(draw(findings) + lines.map(drawLines).join(''))
    else await output.report('Findings', output.machine ? { findings, lines } : findings)
    const bad = findings.filter(({ state }) => state === 'fail')
    if (bad.length > 0)
      throw new SvcError(
        'failed',
        'unsafe_guard',
        `${bad.length === 1 ? 'A check' : `${bad.length} checks`} failed: ${bad.map(({ check }) => check).join(', ')}`,
        { hint: 'Do not rely on the guards until every check passes' },
      )
  })
}

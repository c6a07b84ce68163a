import { nearest } from '../../core/nearest.ts'
import { usageError } from '../../core/errors.ts'
import { topics } from './help-topics.ts'
import type { Register } from './program.ts'

const list = (): string => {
  const width = Math.max(...Object.keys(topics).map((name) => name.length))
  const lines = Object.entries(topics).map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}`)
  return `Topics:\n${lines.join('\n')}\n\nsvc help TOPIC explains a topic, svc COMMAND --help a command. svc --help lists all commands.`
}

/** `svc help`, `svc help TOPIC`, and `svc help COMMAND…` as `svc COMMAND… --help`. */
export const registerHelp: Register = (command, context, program) => {
  command
    .usage('[topic | command]')
    .argument('[words...]')
    .addHelpText('after', '\nExample:\n  svc help exit-codes')
    .action(async (words: string[]) => {
      const [first = ''] = words
      if (words.length === 0) return context.io.stdout.write(`${list()}\n`)
      if (words.length === 1 && Object.hasOwn(topics, first))
        return context.io.stdout.write(`${topics[first]!.text()}\n`)
      const groups = command.parent!.commands.map((one) => one.name())
      if (groups.includes(first)) {
        const tree = await program.tree(words)
        await tree.parseAsync([...words, '--help'], { from: 'user' })
        return undefined
      }
      const meant = nearest(first, [...Object.keys(topics), ...groups])
      throw usageError(
        `There is no help topic "${words.join(' ')}"`,
        meant ? `svc help ${meant}` : `svc help ${Object.keys(topics).join('|')}`,
      )
    })
}

import type { Command, Option } from 'commander'
import { usageError } from '../../core/errors.ts'

/** Whether a flag can be repeated. Only such a flag has a parser, which collects its values. */
export const canRepeat = ({ parseArg, variadic }: Option): boolean => parseArg !== undefined || variadic

/** A typed flag, and its value if it takes one. */
export type TypedFlag = { option: Option; value?: string | undefined }

/**
 * Watches the flags of a command and of its subcommands while commander parses them. Refuses one without a value that
 * took the -- before a command for it. The returned function returns the first
 * two that cannot be given together: one that can be given once, or a flag and its negation.
 */
export const watchFlags = (program: Command): (() => [TypedFlag, TypedFlag] | undefined) => {
  let twice: [TypedFlag, TypedFlag] | undefined
  const watch = (command: Command): void => {
    const seen = new Map<string, TypedFlag>()
    for (const option of command.options) {
      command.on(`option:${option.name()}`, (value?: string) => {
        if (value !== '--') return
        const name = option.long ?? option.short
        throw usageError(`${name} requires a value before --`, `Type a value, or leave out ${name}`)
      })
      if (canRepeat(option)) continue
      const key = option.attributeName()
      command.on(`option:${option.name()}`, (value?: string) => {
        const typed = { option, value }
        const first = seen.get(key)
        if (first) twice ??= [first, typed]
        seen.set(key, typed)
      })
    }
    command.commands.forEach(watch)
  }
  watch(program)
  return () => twice
}

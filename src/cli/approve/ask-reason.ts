import type { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import type { Prompt } from '../terminal/prompt.ts'
import { demandIn } from './demanded.ts'

/** Asks for the reason that a rule requires, with the words of the rule. */
export const askReason = (prompt: Prompt, error: SvcError, { io }: Pick<Context, 'io'>): Promise<string> => {
  io.stderr.write(`${safeLine(error.message)}\n`)
  const { prompt: question = 'Reason', example } = demandIn(error)
  return prompt.text(question, {
    ...(example !== undefined && { example }),
    validate: (text) => text.trim() !== '' || 'must not be empty',
  })
}

import { askedText, progressOf } from '../../contract/line-progress.ts'
import type { OutputStream } from '../terminal/io.ts'
import { maskPhone } from '../terminal/mask.ts'
import { withoutPhones } from '../terminal/mask-prose.ts'
import { safeLine } from '../../core/safe-text.ts'
import { silent, type Progress } from '../../asking/progress.ts'

/** Plain lines: what a guard prints ends up in a terminal, in the output of git and in logs. Phone numbers are masked. */
export const createGuardProgress = (stderr: OutputStream): Progress => {
  const say = (text: string): void => stderr.write(`guard: ${safeLine(text)}\n`)
  return {
    ...silent,
    requested: ({ request_id, approver_mobile, lines, action, number }) => {
      const who = progressOf(lines) ? askedText(lines!) : maskPhone(approver_mobile)
      say(`waiting for ${who} to approve: ${withoutPhones(action)} (${request_id})`)
      if (number) say(`number to type on the phone: ${number}`)
    },
    lost: (_, { message }) => say(`${message}; still waiting`),
    reconnected: () => say('reconnected'),
    // Why is in the error.
    decided: ({ status }) => say(status),
    warn: say,
  }
}

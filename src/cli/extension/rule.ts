import { rule } from '../../contract/rule.ts'
import type { Extensions } from '../operation/operation-command.ts'

const { testRule: _, ...others } = rule

/** The operations whose commands come from the table. */
export const ruleOperations = others

/** `svc rule list` shows in words what each rule holds. */
export const ruleTable: Extensions = new Map([
  [
    rule.listRules,
    (command, context) => {
      command.action(async () => {
        const [{ runOperation }, { exceptText, matchText }] = await Promise.all([
          import('../operation/run-operation.ts'),
          import('../../rules/rule-text.ts'),
        ])
        const typed = { args: command.args, options: command.opts() }
        await runOperation(rule.listRules, typed, context, {
          texts: { match: matchText, except: exceptText },
        })
      })
    },
  ],
])

import { rule } from '../../contract/rule.ts'
import type { Extension, Extensions } from '../operation/operation-command.ts'

const { testRule: _, ...others } = rule

/** The operations whose commands come from the table. */
export const ruleOperations = others

type Shown = typeof rule.listRules | typeof rule.getRule | typeof rule.createRule

const inWords =
  (operation: Shown): Extension =>
  (command, context) =>
    void command.action(async () => {
      const [{ runOperation }, { exceptText, grantText, matchText, reasonText }] = await Promise.all([
        import('../operation/run-operation.ts'),
        import('../../rules/rule-text.ts'),
      ])
      const texts = { match: matchText, except: exceptText, reason: reasonText, grant: grantText }
      await runOperation(operation, { args: command.args, options: command.opts() }, context, { texts })
    })

/** The commands that show in words what a rule holds. */
export const ruleTable: Extensions = new Map(
  [rule.listRules, rule.getRule, rule.createRule].map((one) => [one, inWords(one)]),
)

import { fieldsIn } from '../../client/answer-data.ts'
import type { Answer } from '../../client/client.ts'
import { device } from '../../contract/device.ts'
import type { Data } from '../../contract/operation.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { isUnsupported } from '../context/own-key.ts'
import type { Extension } from '../operation/operation-command.ts'
import { addedConsequence, addedOutcome, chooseAdded } from './added.ts'

type Added = Data<typeof device.listAdded>

const readAdded = async (
  { org_id, device_id }: Record<string, unknown>,
  context: Context,
): Promise<Added | undefined> => {
  const client = await context.client()
  const target = { org_id: Number(org_id), device_id: String(device_id) }
  try {
    return (await client.call(device.listAdded, target, { signal: context.io.signal })).envelope.data
  } catch (error) {
    // A service without it, or a key that may not read. The answer of the revocation says what remains.
    if (isUnsupported(error)) return undefined
    throw error
  }
}

/** `svc user devices revoke` lists what the device added, and asks whether that ends too. */
export const deviceRevocation: Extension = (command, context) =>
  void command.action(async () => {
    const { runOperation } = await import('../operation/run-operation.ts')
    const options = command.opts()
    let added: Added | undefined
    await runOperation(device.revokeDevice, { args: command.args, options }, context, {
      before: async (input) => {
        if (options['yes'] && options['withAdded'] !== true) return
        added = await readAdded(input, context)
        await chooseAdded(added, input, options, context)
      },
      consequence: async (input) => addedConsequence(added, input),
      afterShown: async (answer: Pick<Answer<Data<typeof device.revokeDevice>>, 'envelope'>) => {
        const { id, org_id, ...outcome } = fieldsIn(answer)
        const output = await context.output()
        const end = `svc user devices revoke ${shellQuote(String(id))} --org ${shellQuote(String(org_id))} --with-added`
        for (const line of addedOutcome(outcome, end)) output.warn(line)
      },
    })
  })

import { call } from '../calls/api.ts'
import { assert, withdraw } from '../calls/webauthn.ts'
import { t } from '../language/text.ts'
import { showDialog } from './dialog.ts'
import { button, div, h } from './element.ts'
import { problemLine, sentenceFor } from './frame.ts'

const ask = async (org: number | null | undefined): Promise<boolean> => {
  const problem = problemLine()
  let isConfirmed = false
  const confirm = async (close: () => void): Promise<void> => {
    problem.say('')
    try {
      const { challenge, rp_id, credential_id } = await call('beginConfirmation', {}, { org })
      const response = await assert(rp_id, challenge, credential_id)
      await call('confirmSession', { challenge, response }, { org })
      isConfirmed = true
      close()
    } catch (error) {
      problem.say(sentenceFor(error))
    }
  }
  await showDialog(t('common.confirmTitle'), (close) => [
    h('p', {}, t('common.confirmWhy')),
    problem.element,
    div(
      'actions',
      button(t('enrollment.confirm'), 'primary', () => confirm(close)),
      button(t('common.notNow'), 'quiet', close),
    ),
  ])
  if (!isConfirmed) withdraw()
  return isConfirmed
}

let asked: Promise<boolean> | undefined

/** Whether the question is open. */
export const isConfirming = (): boolean => asked !== undefined

/** Asks the person to confirm a session with its device; once for all calls that need it now. Returns whether they did. */
export const confirmSession = (org: number | null | undefined): Promise<boolean> =>
  (asked ??= ask(org).finally(() => (asked = undefined)))

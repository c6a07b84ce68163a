import { call } from '../calls/api.ts'
import { assert, withdraw } from '../calls/webauthn.ts'
import { t } from '../language/text.ts'
import { button, div, h } from './element.ts'
import { problemLine, sentenceFor } from './frame.ts'

const ask = (org: number | null | undefined): Promise<boolean> =>
  new Promise((resolve) => {
    const problem = problemLine()
    let isConfirmed = false
    const confirm = async (): Promise<void> => {
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
    const close = (): void => dialog.close()
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'confirm' },
      h('h2', { id: 'confirm' }, t('common.confirmTitle')),
      h('p', {}, t('common.confirmWhy')),
      problem.element,
      div(
        'actions',
        button(t('enrollment.confirm'), 'primary', confirm),
        button(t('common.notNow'), 'quiet', close),
      ),
    )
    dialog.addEventListener('close', () => {
      removeEventListener('hashchange', close)
      if (!isConfirmed) withdraw()
      dialog.remove()
      resolve(isConfirmed)
    })
    // What needed it is left.
    addEventListener('hashchange', close)
    document.body.append(dialog)
    dialog.showModal()
  })

let asked: Promise<boolean> | undefined

/** Asks the person to confirm a session with its device; once for all calls that need it now. Returns whether they did. */
export const confirmSession = (org: number | null | undefined): Promise<boolean> =>
  (asked ??= ask(org).finally(() => (asked = undefined)))

import { button, div, h } from '../shell/element.ts'
import { t } from '../language/text.ts'

/** The note is part of what is signed, so its author sees exactly what is sent. */
export const noteStep = (deny: (note?: string) => unknown, back: () => void): HTMLElement => {
  const input = h('textarea', {
    id: 'note',
    dir: 'auto',
    rows: 3,
    maxlength: 280,
    autocomplete: 'off',
    'aria-describedby': 'note-why',
  })
  const submit = (): unknown => deny(input.value.replace(/\s+/g, ' ').trim() || undefined)
  return div(
    'step',
    div(
      'field',
      h('label', { for: 'note' }, t('request.noteLabel')),
      input,
      h('p', { class: 'aside', id: 'note-why' }, t('request.noteWhy')),
    ),
    div('actions', button(t('common.deny'), 'danger', submit), button(t('common.back'), 'quiet', back)),
  )
}

export const notMeStep = (deny: () => unknown, back: () => void): HTMLElement =>
  div(
    'step',
    h('h2', {}, t('request.notExpected')),
    h('p', {}, t('request.reportWhy')),
    div(
      'actions',
      button(t('request.denyAndReport'), 'danger', deny),
      button(t('common.back'), 'quiet', back),
    ),
  )

export type WithoutPlace = 'again' | 'send' | 'back' | 'deny'

/** The phone does not report its location. */
export const withoutPlaceStep = (answer: (choice: WithoutPlace) => void): HTMLElement =>
  div(
    'step',
    h('h2', {}, t('request.noLocationShared')),
    h('p', {}, t('request.noLocationSharedWhy')),
    div(
      'actions',
      button(t('common.tryAgain'), 'primary', () => answer('again')),
      button(t('request.sendWithout'), 'plain', () => answer('send')),
      button(t('common.deny'), 'danger', () => answer('deny')),
    ),
    button(t('common.back'), 'quiet', () => answer('back')),
  )

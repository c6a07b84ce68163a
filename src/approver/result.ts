import { button, h } from './element.ts'
import type { PendingRequest } from './feed.ts'
import { announce, showNotice } from './frame.ts'
import { showRemoved } from './removed.ts'
import { exactText, headline } from './text.ts'

export type Ending =
  | { kind: 'approved' | 'elsewhere' | 'expired' | 'removed' | 'muted' | 'unsure' }
  | { kind: 'denied'; note?: string | undefined }
  | { kind: 'ruled out' | 'stopped'; message: string }

const quote = (request: PendingRequest): HTMLElement =>
  h('span', { class: 'quote' }, exactText(headline(request)))

const wordsFor = (ending: Ending, request: PendingRequest) => {
  switch (ending.kind) {
    case 'approved':
      return { drawing: 'check', tone: 'good', title: 'Approved', lines: [quote(request)] } as const
    case 'denied':
      return {
        drawing: 'cross',
        title: 'Denied',
        lines: [quote(request), ...(ending.note === undefined ? [] : [`Your note: ${ending.note}`])],
      } as const
    case 'muted':
      return {
        drawing: 'cross',
        title: 'Denied',
        lines: [
          quote(request),
          'The requester can’t ask you again for 20 minutes. Tell your administrator if you didn’t expect this request.',
        ],
      } as const
    case 'ruled out':
      return {
        drawing: 'cross',
        title: 'Denied',
        lines: [quote(request), exactText(ending.message)],
      } as const
    case 'stopped':
      return {
        drawing: 'cross',
        title: 'This decision doesn’t count',
        lines: [exactText(ending.message)],
      } as const
    case 'expired':
      return {
        drawing: 'clock',
        title: 'This request has expired',
        lines: [quote(request), 'Nothing was approved. The requester can ask again.'],
      } as const
    case 'unsure':
      return {
        drawing: 'clock',
        title: 'This request has ended',
        lines: [
          quote(request),
          'Your decision may have arrived before the connection failed. Ask the requester for the result.',
        ],
      } as const
    default:
      return {
        drawing: 'check',
        title: 'Decided elsewhere',
        lines: [
          quote(request),
          'It was decided on another device, or withdrawn. There’s nothing left to do here.',
        ],
      } as const
  }
}

/** How a request ended, and the way back. */
export const showResult = (ending: Ending, request: PendingRequest, back: () => void): void => {
  if (ending.kind === 'removed') return showRemoved()
  const words = wordsFor(ending, request)
  showNotice({ ...words, actions: [button('Done', 'primary', back)] })
  announce(words.title)
}

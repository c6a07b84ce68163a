import { Refused, Unreachable } from '../calls/api.ts'
import { quietly } from '../calls/confirmation.ts'
import { t } from '../language/text.ts'
import { isConfirming } from './confirm.ts'
import { button, type Child, div, h, put } from './element.ts'
import { outcomeLine, type problemLine, sentenceFor, show, type View } from './frame.ts'
import { momentText } from '../language/time.ts'

/** An answer that takes less replaces the screen at once, without a flash of another one. */
export const noticeableMs = 400

type Reading<D> = {
  title: string
  /** The way back; to the requests by default. */
  back?: { href: string; text: string }
  read: () => Promise<D>
  draw: (data: D, screen: Screen) => Child[]
  /** Stays as it is below the content. */
  below?: (screen: Screen) => Node
}

export type Screen = {
  /** Says what became of a tap, above the content, where it stays when the content changes. */
  tell: (...outcome: (Node | string)[]) => void
  /** Says why a tap did nothing, in place of what became of the one before. */
  refuse: (problem: ReturnType<typeof problemLine>, why: string) => void
  /** Reads again and shows what has changed. */
  refresh: () => Promise<void>
  /** Runs the work of a tap, and reads again in any case: if its answer was lost, the list knows whether it was made. */
  act: (problem: ReturnType<typeof problemLine>, work: () => Promise<void>) => Promise<void>
}

/** Whoever edits something, or is in a device check, keeps what they see. */
const editing = '.editing'
const isBusy = (content: HTMLElement): boolean =>
  content.querySelector(editing) !== null || content.closest('[data-busy]') !== null

/** What a link or button is for, as far as its screen says. What has an id, `data-of`, may get another name. */
const purposeOf = (stop: HTMLElement): string => {
  const of = stop.closest<HTMLElement>('[data-of]')?.dataset['of']
  const labels = [stop.closest('[role="group"]'), stop].map((one) => one?.getAttribute('aria-label'))
  return stop.getAttribute('href') ?? (of ?? labels.join()) + stop.textContent
}

/** Replaces the content. The focus stays where it was, if that is certain: what it is on may decide something. */
const redraw = (content: HTMLElement, children: readonly Child[]): void => {
  const focused = document.activeElement as HTMLElement | null
  const kept = focused !== null && content.contains(focused) ? purposeOf(focused) : undefined
  put(content, ...children)
  if (kept === undefined) return
  const same = [...content.querySelectorAll<HTMLElement>('a, button, summary')].filter(
    (stop) => purposeOf(stop) === kept,
  )
  const next = same.length === 1 ? same[0] : content.parentElement?.querySelector('h1')
  next?.focus({ preventScroll: true })
}

const problemOf = (error: unknown): string => {
  if (!(error instanceof Refused)) return t('common.cantReadNow')
  return error.code === 'admin_only' ? t('common.adminOnly') : error.message
}

/** A screen of what the service answers. Without an answer, the screen says so: an empty list would be untrue. */
export const showReading = <D>({ title, back, read, draw, below }: Reading<D>): View => {
  const status = h('div', { class: 'reading', role: 'status' })
  const loading = setTimeout(() => status.replaceChildren(h('p', 'aside', t('common.moment'))), noticeableMs)
  const told = outcomeLine()
  const content = div('content')
  let left = false
  let drawn: string | undefined
  let readAt = ''

  const refresh = async (readNow = read): Promise<void> => {
    try {
      const data = await readNow().finally(() => clearTimeout(loading))
      if (left) return
      readAt = new Date().toISOString()
      status.replaceChildren()
      const text = JSON.stringify(data)
      if (text === drawn || isBusy(content)) return
      drawn = text
      redraw(content, draw(data, screen))
    } catch (error) {
      if (left) return
      const isUnconfirmed = error instanceof Refused && error.code === 'signature_required'
      // The open question says it already.
      if (isUnconfirmed && isConfirming()) return
      put(
        status,
        h('p', 'problem', problemOf(error)),
        drawn !== undefined && h('p', 'aside', t('common.readAt', { when: momentText(readAt) })),
        (isUnconfirmed || !(error instanceof Refused)) &&
          button(t(isUnconfirmed ? 'common.confirmTitle' : 'common.tryAgain'), 'plain', () => refresh()),
      )
    }
  }
  const screen: Screen = {
    tell: (...outcome) => {
      told.replaceChildren(...outcome)
      told.focus({ preventScroll: true })
      told.scrollIntoView({ block: 'nearest' })
    },
    refuse: (problem, why) => {
      put(told)
      problem.say(why)
    },
    refresh,
    act: async (problem, work) => {
      let failure: string | undefined
      await problem.attempt(work, (error) => {
        screen.refuse(problem, sentenceFor(error))
        failure = error instanceof Unreachable ? t('common.answerLost') : sentenceFor(error)
      })
      await refresh()
      // What the tap was about has changed, and the line about it is gone.
      if (failure !== undefined && !left && !problem.element.isConnected) screen.tell(failure)
    },
  }
  show(
    title,
    h('a', { class: 'back', href: back?.href ?? '#' }, back?.text ?? t('common.allRequests')),
    h('h1', {}, title),
    told,
    status,
    content,
    below?.(screen),
  )
  void refresh()
  return { update: () => void refresh(() => quietly(read)), leave: () => (left = true) }
}

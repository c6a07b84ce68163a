import { t, type Plain } from '../language/text.ts'
import { div, type Drawing, h, picture } from './element.ts'
import { show } from './frame.ts'

type Line = string | Node | false

/** One message: what happened, or what to do. */
export type Notice = {
  drawing: Drawing
  tone?: 'good' | 'bad' | undefined
  title: string
  lines?: readonly Line[]
  body?: readonly Line[]
}

/** A message with a drawing; that something is `good` or `bad` has one of its own. */
export const notice = (look: Drawing | 'good' | 'bad', title: string, ...lines: Line[]): Notice => {
  if (look === 'good') return { drawing: 'check', tone: look, title, lines }
  return look === 'bad' ? { drawing: 'cross', tone: look, title, lines } : { drawing: look, title, lines }
}

/** A title, and the line that explains it. */
export const words = (title: Plain, why: Plain, drawing: Drawing): Notice => notice(drawing, t(title), t(why))

/** A screen with one message and the next step. */
export const showNotice = (
  { drawing, tone, title, lines = [], body = [] }: Notice,
  ...actions: (HTMLElement | false)[]
): HTMLElement => {
  const paragraphs = lines.map((line) => line !== false && h('p', {}, line))
  return show(
    title,
    div('notice', picture(drawing, tone), h('h1', {}, title), ...paragraphs),
    ...body,
    actions.length > 0 && div('actions', ...actions),
  )
}

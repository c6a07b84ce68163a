import { t } from '../language/text.ts'
import { button, div, h } from '../shell/element.ts'

type Suggestion = { line: Node | string; problem?: Node; action: Node; dismissed: () => void }

/** A card with one thing to do, or to dismiss. Then the focus moves on to what follows. */
export const suggestion = ({ line, problem, action, dismissed }: Suggestion): HTMLElement => {
  const dismiss = (): void => {
    dismissed()
    const next = card.nextElementSibling ?? document.querySelector('h1')
    card.remove()
    const target = next?.querySelector('a, button, select') ?? next
    ;(target as HTMLElement | null)?.focus({ preventScroll: true })
  }
  const card = div(
    'paper',
    h('p', {}, line),
    problem,
    div('links', action, button(t('inbox.dismiss'), 'quiet', dismiss)),
  )
  return card
}

import type { ChalkInstance } from 'chalk'

/** Yellow: somebody or something has yet to act, or nothing can be told. */
const meanings = {
  green: 'active approved ok PASS sent serving',
  yellow: 'pending queued sending failing stopping INSUFFICIENT_DATA',
  red: 'denied expired FAIL FAILED failed dead stopped lost rejected removed revoked refused disputed',
}

const colourOf = new Map(
  Object.entries(meanings).flatMap(([colour, words]) =>
    words.split(' ').map((word) => [word, colour as keyof typeof meanings]),
  ),
)

/** A cell of a table: the state that a field of this name has, in the colour of what it means. */
export const painted = (field: string, text: string, chalk: ChalkInstance): string => {
  const colour = /(?:^|[._])(?:status|state|result|verdict|answer|ok)$/.test(field) && colourOf.get(text)
  return colour ? chalk[colour](text) : text
}

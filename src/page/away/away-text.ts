import { t } from '../language/text.ts'
import { dateText } from '../language/time.ts'

export type Away = { from: string; until: string }

export const awayText = ({ from, until }: Away): string =>
  t('away.interval', { from: dateText(from), until: dateText(until) })

import type { Session } from '../calls/api.ts'
import { t } from '../language/text.ts'

/** The decisions of a person, by the organization if they have several. */
export const historyTitle = ({ organization }: Session, sessions: readonly Session[]): string =>
  sessions.length > 1 ? t('history.titleIn', { organization }) : t('history.title')

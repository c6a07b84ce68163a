import { attempted } from './attempted.ts'

/** The value of a JSON text; undefined if the text is not valid JSON. */
export const parseJson = (text: string): unknown => attempted(() => JSON.parse(text) as unknown)

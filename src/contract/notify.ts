import { operations } from './operation.ts'

export const notify = operations({})

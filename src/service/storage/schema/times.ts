// Times are ISO 8601 text in UTC with milliseconds, so that they compare as text in every dialect.
export type Times = { created_at: string; updated_at: string }

/** Tables whose rows stay when a workspace is deleted: what operators did, with ids only. */
export const KEPT_TABLES = ['audit'] as const

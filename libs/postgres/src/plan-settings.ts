/** Plans on every run: a plan from when the tables were empty would scan them once they grew (decision 010). */
export const PLAN_EACH_TIME = { plan_cache_mode: 'force_custom_plan' } as const

/**
 * Plans a statement once, with indexes and nested loops alone. For statements that look rows up by key: such a plan
 * suits empty and full tables, and planning takes longer than running (decision 019).
 */
export const PLAN_ONCE_BY_KEYS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
} as const

/**
 * Settings that make PostgreSQL plan a statement on every run, for its parameters. A plan kept from the time when the
 * tables were empty would scan them once they have grown (decision 010).
 */
export const PLAN_EACH_TIME = { plan_cache_mode: 'force_custom_plan' } as const

/**
 * Settings that make PostgreSQL plan a statement once, with indexes and nested loops alone. For connections whose
 * statements all look rows up by key: such a plan suits empty and full tables, and planning takes longer than running
 * (decision 019).
 */
export const PLAN_ONCE_BY_KEYS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
} as const

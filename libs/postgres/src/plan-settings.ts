/**
 * Settings that make PostgreSQL plan a statement on every run, for its parameters. A plan kept from the time when the
 * tables were empty would scan them once they have grown (decision 010).
 */
export const PLAN_EACH_TIME = { plan_cache_mode: 'force_custom_plan' } as const

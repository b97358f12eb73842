/**
 * Settings for the workers' connections. Over daily partitions a statement takes longer to plan than to run on some rows, so plans are
 * kept. What a kept plan goes by, indexes and loops alone, is right for empty tables and for full ones, since every statement here
 * looks rows up by their keys (decision 019).
 */
export const PLANS_ONCE = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
}

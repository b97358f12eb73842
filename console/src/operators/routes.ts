import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

const getParentRoute = () => rootRoute

/** The pages of operators. They are below one path, since they ask for another session. */
export const operatorRoutes = [
  createRoute({
    getParentRoute,
    path: '/operators',
    beforeLoad: () => {
      throw redirect({ to: '/operators/workspaces' })
    },
  }),
  createRoute({
    getParentRoute,
    path: '/operators/workspaces',
    component: lazyRouteComponent(() => import('./workspaces/workspaces-page.tsx'), 'WorkspacesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/operators/workspaces/$workspace',
    component: lazyRouteComponent(() => import('./workspaces/workspace-page.tsx'), 'WorkspacePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/operators/leaks',
    component: lazyRouteComponent(() => import('./leaks-page.tsx'), 'LeaksPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/operators/audit',
    component: lazyRouteComponent(() => import('./audit/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/operators/system',
    component: lazyRouteComponent(() => import('./system/system-page.tsx'), 'SystemPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/operators/system/dead-letters/$consumer',
    component: lazyRouteComponent(() => import('./system/consumer-page.tsx'), 'ConsumerPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/operators/system/dead-letters/$consumer/$letter',
    component: lazyRouteComponent(() => import('./system/letter-page.tsx'), 'LetterPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/operators/system/outbox/$service',
    component: lazyRouteComponent(() => import('./system/refused-page.tsx'), 'RefusedPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/operators/system/checks/$check/$run',
    component: lazyRouteComponent(() => import('./system/run-page.tsx'), 'RunPage'),
  }),
] as const

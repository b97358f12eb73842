import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

const getParentRoute = () => rootRoute

export const customerRoutes = [
  createRoute({
    getParentRoute,
    path: '/customers',
    component: lazyRouteComponent(() => import('./customers-page.tsx'), 'CustomersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/customers/$customer',
    component: lazyRouteComponent(() => import('./customer-page.tsx'), 'CustomerPage'),
  }),
] as const

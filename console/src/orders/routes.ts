import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

const getParentRoute = () => rootRoute

export const orderRoutes = [
  createRoute({
    getParentRoute,
    path: '/orders',
    component: lazyRouteComponent(() => import('./orders-page.tsx'), 'OrdersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/orders/$id',
    component: lazyRouteComponent(() => import('./order-page.tsx'), 'OrderPage'),
  }),
] as const

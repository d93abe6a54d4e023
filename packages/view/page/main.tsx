/** The page of `toolenv view`. */
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { App } from './app.tsx';

render(<App />, document.getElementById('page')!);

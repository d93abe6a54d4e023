/** The playground: an agent that searches, answers and learns in a browser tab. */
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import '../../packages/view/page/style.css';
import './playground.css';
import { App } from './app.tsx';

render(<App />, document.getElementById('page')!);
